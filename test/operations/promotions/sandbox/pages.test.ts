/** The sandbox's own pages: discounts of the platform, the quote of a cart, changes of products. */
import { beforeAll, describe, expect, test } from 'vitest'
import createBundle from '#operations/promotions/bundles/api/create-bundle'
import listBundles from '#operations/promotions/bundles/api/list-bundles'
import createPromotion from '#operations/promotions/promotions/api/create-promotion'
import { type TestApp, testApp } from '#test/support/app'
import { discountStore } from '#test/support/discounts'
import { refused } from '#test/support/refused'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
})

const call = async (path: string, body?: object) => {
  const response = await app.fetch(
    new Request(`http://localhost/sandbox/api/ecommerce/${path}`, {
      method: body ? 'POST' : 'GET',
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
    }),
    { ip: '127.0.0.1' },
  )
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  return { status: response.status, body: (await response.json()) as any }
}

describe('the sandbox platform', () => {
  test('holds created discounts, by the id or slug of the store, and quotes a cart with them', async () => {
    const shop = await discountStore(app)
    const made = await shop.call(createPromotion, {
      body: shop.promotion({ buyQuantity: 2, payQuantity: 1 }),
    })
    const { body } = await call(`${shop.slug}/discounts`)
    expect(body.data).toMatchObject([{ reference: `promotion:${made.body.id}`, revision: 1 }])
    const quote = await call(`${shop.id}/cart-quote`, {
      lines: [
        { variantId: '2003', quantity: 1 },
        { variantId: '2002', quantity: 1 },
      ],
    })
    expect(quote.body).toMatchObject({
      subtotal: '160.00',
      total: '100.00',
      discounts: [{ reference: `promotion:${made.body.id}`, amount: '60.00' }],
      lines: [{ total: '100.00' }, { discount: '60.00', total: '0.00' }],
    })
    const unknown = await call(`${shop.id}/cart-quote`, { lines: [{ variantId: 'nope', quantity: 1 }] })
    expect(unknown).toMatchObject(refused(400, 'nope'))
  })

  test('creates, changes and deletes a product; its webhook reaches its bundles', async () => {
    const shop = await discountStore(app)
    const made = await call(`${shop.id}/products/new-1`, { name: 'New' })
    expect(made.body).toMatchObject({
      id: 'new-1',
      name: 'New',
      price: 100,
      stock: 10,
      variants: [{ id: 'new-1-1' }],
    })
    await shop.call(createBundle, { body: shop.bundle({ items: [{ productId: 'new-1', quantity: 2 }] }) })
    const bundle = async () => {
      await app.drainJobs()
      return (await shop.call(listBundles)).body.data[0]
    }
    await call(`${shop.id}/products/new-1`, { price: 80, stock: 0 })
    expect(await bundle()).toMatchObject({ regularPrice: 160, availability: 'out-of-stock' })
    await call(`${shop.id}/products/new-1`, { stock: null, isPublished: false })
    expect((await bundle()).items[0].status).toBe('unpublished')
    await call(`${shop.id}/products/new-1`, { isDeleted: true })
    expect(await bundle()).toMatchObject({ regularPrice: null, availability: 'unavailable' })
  })
})
