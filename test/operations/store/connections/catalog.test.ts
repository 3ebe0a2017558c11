import { describe, expect, test } from 'vitest'
import listCategories from '#operations/store/connections/api/list-categories'
import listProducts from '#operations/store/connections/api/list-products'
import { connectEcommerce, disconnect } from '#operations/store/connections/connections'
import { putCategories, putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { store } from '#test/support/store'

const app = await testApp()

const catalog = async () => {
  const shop = await connectedStore(app)
  await putCategories(shop.platform, [
    { id: '301', name: 'Casa' },
    { id: '302', name: 'Cozinha', parentId: '301' },
    { id: '303', name: 'Álbuns' },
  ])
  await putProducts(shop.platform, [
    {
      id: '1003',
      name: 'Chaleira Ágata',
      brand: 'Nórdica',
      tags: ['café'],
      categoryIds: ['302'],
      isPublished: false,
      variants: [{ id: '2009', sku: 'CHA-1', price: 89.9, compareAtPrice: 99.9, stock: 0 }],
    },
  ])
  return shop
}

describe('GET /ecomplatform/products', () => {
  test('returns the platform’s products, searched, filtered, sorted and paged', async () => {
    const shop = await catalog()
    const answer = await shop.call(listProducts, { query: { search: 'AGATA' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      page: 1,
      limit: 20,
      total: 1,
      data: [
        {
          id: '1003',
          name: 'Chaleira Ágata',
          price: 89.9,
          compareAtPrice: 99.9,
          currency: 'BRL',
          stock: 0,
          isPublished: false,
          categories: [{ id: '302', name: 'Cozinha' }],
          variants: [{ id: '2009', sku: 'CHA-1', stock: 0, isAvailable: false }],
        },
      ],
    })
    const ids = async (query: Record<string, string | number | boolean>) =>
      (await shop.call(listProducts, { query })).body.data.map((each: { id: string }) => each.id)
    expect(await ids({})).toEqual(['1002', '1001', '1003'])
    expect(await ids({ sort: '-price' })).toEqual(['1002', '1003', '1001'])
    expect(await ids({ inStock: false })).toEqual(['1003'])
    expect(await ids({ isPublished: true, limit: 1, page: 2 })).toEqual(['1001'])
    expect(await ids({ categoryId: '302' })).toEqual(['1003'])
    expect(await ids({ categoryId: 'none' })).toEqual([])
    expect(await ids({ ids: '1001,1003,sandbox-missing' })).toEqual(['1001', '1003'])
    const tooMany = Array.from({ length: 51 }, (_, i) => i).join()
    expect((await shop.call(listProducts, { query: { ids: tooMany } })).status).toBe(400)
  })

  test('is a conflict without a platform, and unavailable while it is down', async () => {
    const bare = await store(app)
    const refused = await bare.call(listProducts)
    expect(refused.status).toBe(409)
    expect(refused.body.error.message).toMatch(/not connected/)

    const shop = await catalog()
    const mode = { store_id: shop.id, port: 'ecommerce', mode: 'down' }
    await app.database.root.insertInto('sandbox_modes').values(mode).execute()
    expect((await shop.call(listProducts)).status).toBe(503)
    expect((await shop.call(listCategories)).status).toBe(503)
    await app.database.root.deleteFrom('sandbox_modes').where('store_id', '=', shop.id).execute()
    expect((await shop.call(listProducts, { query: { ids: 'sandbox-down' } })).status).toBe(503)
    expect((await shop.call(listProducts)).status).toBe(200)

    await disconnect(await shop.context(), 'ecommerce')
    expect((await shop.call(listProducts)).status).toBe(409)
    await expect(disconnect(await shop.context(), 'ecommerce')).rejects.toMatchObject({ code: 'conflict' })
  })
})

describe('GET /ecomplatform/categories', () => {
  test('lists the tree, searched ignoring case and accents', async () => {
    const shop = await catalog()
    const answer = await shop.call(listCategories)
    expect(answer.status).toBe(200)
    expect(answer.body.data).toEqual([
      expect.objectContaining({ id: '301', path: 'Casa', parentId: null, productCount: 0, position: 1 }),
      expect.objectContaining({ id: '302', path: 'Casa > Cozinha', parentId: '301', productCount: 1 }),
      expect.objectContaining({
        id: '303',
        path: 'Álbuns',
        url: expect.stringMatching(/\/categories\/albuns$/),
      }),
    ])
    const found = await shop.call(listCategories, { query: { search: 'ALBUNS' } })
    expect(found.body.data.map((each: { id: string }) => each.id)).toEqual(['303'])
    expect((await (await store(app)).call(listCategories)).status).toBe(409)
  })
})

describe('connecting', () => {
  test('refuses an unknown provider and invalid credentials', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    await expect(connectEcommerce(ctx, 'nowhere', {})).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringContaining('one of sandbox'),
    })
    await expect(connectEcommerce(ctx, '__proto__', {})).rejects.toMatchObject({ code: 'bad_request' })
    await expect(connectEcommerce(ctx, 'sandbox', { token: 'invalid' })).rejects.toMatchObject({
      code: 'bad_request',
      message: expect.stringMatching(/^credentials: /),
    })
    expect((await shop.call(listProducts)).status).toBe(409)
  })

  test('seals the credentials: the database contains no plain text of them', async () => {
    const shop = await store(app)
    await connectEcommerce(await shop.context(), 'sandbox', { token: 'a-very-secret-token' })
    const rows = await app.database.query<{ text: string }>(
      'select row_to_json(c)::text as text from connections c where store_id = $1',
      [shop.id],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]!.text).toContain('"provider":"sandbox"')
    expect(rows[0]!.text).not.toContain('a-very-secret-token')
    expect((await shop.call(listProducts)).status).toBe(200)
  })
})
