import { describe, expect, test } from 'vitest'
import changeBadge from '#operations/product-page/labels/api/change-badge'
import createBadge from '#operations/product-page/labels/api/create-badge'
import deleteBadge from '#operations/product-page/labels/api/delete-badge'
import listBadges from '#operations/product-page/labels/api/list-badges'
import saveSettings from '#operations/product-page/labels/api/save-settings'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 100_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const create = (shop: Shop, body: object) => shop.call(createBadge, { body })
const change = (shop: Shop, body: object) => shop.call(changeBadge, { body })
const save = (shop: Shop, body: object) => shop.call(saveSettings, { body })
const made = async (shop: Shop, body: object = {}) => {
  const answer = await create(shop, { name: 'Selo', text: 'Original', ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}
const shown = async (shop: Shop, productId?: string) =>
  (await visit(shop, `/widgets?page=product${productId ? `&productId=${productId}` : ''}`)).body.badges

const settings = {
  isEnabled: true,
  maxPerProduct: 3,
  featuredPrice: {
    isEnabled: false,
    discountPercentage: 10,
    text: '{{price}} with {{method}}',
    method: 'bank transfer',
    minAmount: 0,
    applyToSalePrice: true,
    showInProductPage: true,
    showInProductList: false,
    excludedProductIds: [],
    textColor: '#15803d',
    fontSize: 16,
  },
  updatedAt: null,
}

describe('a badge', () => {
  test('a badge has defaults; sent back it is unchanged; it is listed with the settings', async () => {
    const shop = await store(app)
    const badge = await made(shop)
    expect(badge).toEqual({
      id: badge.id,
      name: 'Selo',
      text: 'Original',
      scope: 'all',
      categoryIds: [],
      productIds: [],
      excludedProductIds: [],
      startsAt: null,
      endsAt: null,
      condition: 'always',
      conditionValue: null,
      isActive: true,
      priority: 100,
      icon: null,
      placement: 'below-price',
      backgroundColor: '#eef2ff',
      textColor: '#3730a3',
      borderRadius: 6,
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    await app.advance(1000)
    expect((await change(shop, badge)).body).toEqual(badge)
    expect((await change(shop, { id: badge.id, icon: 'truck', isActive: false })).body).toMatchObject({
      icon: 'truck',
      isActive: false,
      text: 'Original',
    })
    const { body } = await shop.call(listBadges)
    expect(body).toMatchObject({ page: 1, limit: 20, total: 1 })
    expect(body.settings).toEqual(settings)
    expect((await shop.call(deleteBadge, { params: { id: badge.id } })).status).toBe(204)
    expect((await change(shop, { id: badge.id, name: 'x' })).status).toBe(404)
  })

  test.each<[string, object]>([
    ['text', { text: '{{nope}}' }],
    ['text', { text: '{{stock' }],
    ['conditionValue', { condition: 'low-stock' }],
  ])('refuses %s out of its bounds', async (field, body) => {
    expect(await create(await store(app), { name: 'x', text: 'x', ...body })).toMatchObject(
      refused(400, field),
    )
  })
})

describe('the settings of badges', () => {
  test('saved settings are merged over the defaults', async () => {
    const shop = await connectedStore(app)
    const featuredPrice = { ...settings.featuredPrice, isEnabled: true, excludedProductIds: ['1001'] }
    const saved = await save(shop, { featuredPrice: { isEnabled: true, excludedProductIds: ['1001'] } })
    expect(saved.body).toEqual({ ...settings, featuredPrice, updatedAt: app.clock.now().toISOString() })
    const away = await store(app)
    expect((await save(away, { featuredPrice: { excludedProductIds: ['1001'] } })).status).toBe(409)
  })

  test('a text with an unknown variable is refused', async () => {
    const answer = await save(await connectedStore(app), { featuredPrice: { text: '{{stock}}' } })
    expect(answer).toMatchObject(refused(400, 'featuredPrice.text'))
  })
})

describe('badges on the storefront', () => {
  const catalog = async (): Promise<ConnectedShop> => {
    const shop = await connectedStore(app)
    await putProducts(shop.platform, [
      { id: '2001', name: 'A', variants: [{ id: '2001-1', sku: 'A', price: 199.9, stock: 4 }] },
      {
        id: '2002',
        name: 'B',
        variants: [{ id: '2002-1', sku: 'B', price: 80, compareAtPrice: 100, stock: 9 }],
      },
    ])
    const scope = { scope: 'products', productIds: ['2001', '2002'], isActive: false }
    await made(shop, { name: 'so that they are in the mirror', ...scope })
    return shop
  }

  test('no badge states a reduction of 0 or 100 %, also when rounded', async () => {
    const shop = await catalog()
    const sold = [
      ['free', 0, 100],
      ['hardly', 99.7, 100],
      ['nearly', 0.1, 100],
      ['mixed', 0, 100],
    ] as const
    const more = { id: 'mixed-2', price: 70, compareAtPrice: 100, stock: 1 }
    await putProducts(
      shop.platform,
      sold.map(([id, price, compareAtPrice]) => ({
        ...{ id, name: id },
        variants: [{ id: `${id}-1`, price, compareAtPrice, stock: 1 }, ...(id === 'mixed' ? [more] : [])],
      })),
    )
    await made(shop, {
      text: '{{discountPercentage}}% OFF',
      productIds: sold.map(([id]) => id),
      scope: 'products',
    })
    const texts = []
    for (const [id] of sold) {
      const { items = [] } = (await shown(shop, id)) ?? {}
      texts.push(items.map((each: { text: string }) => each.text))
    }
    expect(texts).toEqual([[], [], [], ['30% OFF']])
  })

  test("badges show the product's values: lowest priority, then oldest, up to the maximum", async () => {
    const shop = await catalog()
    await made(shop, { text: 'Só {{stock}}', priority: 5 })
    await made(shop, { text: '-{{discountPercentage}}%', condition: 'on-sale', priority: 1 })
    await made(shop, { text: 'Por {{price}}', priority: 9 })
    await made(shop, { text: 'Pix {{transferPrice}}', priority: 2 })
    await made(shop, { text: 'Também {{stock}}', priority: 5 })
    const texts = async (productId: string) =>
      (await shown(shop, productId)).items.map((each: { text: string }) => each.text)
    expect(await texts('2001')).toEqual(['Só 4', 'Também 4', 'Por R$ 199,90'])
    expect(await texts('2002')).toEqual(['-20%', 'Só 9', 'Também 9'])
    await save(shop, { maxPerProduct: 1 })
    expect(await texts('2001')).toEqual(['Só 4'])
    await save(shop, { maxPerProduct: 4, featuredPrice: { isEnabled: true } })
    expect(await texts('2001')).toEqual(['Pix R$ 179,91', 'Só 4', 'Também 4', 'Por R$ 199,90'])
    const everywhere = (await shown(shop)).items
    expect(everywhere).toHaveLength(5)
    expect(everywhere[0]).toMatchObject({ text: '-{{discountPercentage}}%', condition: 'on-sale' })
    await save(shop, { isEnabled: false })
    expect((await shown(shop, '2001')).items).toEqual([])
  })

  test('badges include the featured price of products that may show it', async () => {
    const shop = await catalog()
    expect(await shown(shop, '2001')).toBeUndefined()
    await save(shop, {
      featuredPrice: {
        isEnabled: true,
        text: '{{price}} no {{method}} (-{{discountPercentage}}%)',
        method: 'Pix',
      },
    })
    expect((await shown(shop, '2001')).featuredPrice).toEqual({
      text: 'R$ 179,91 no Pix (-10%)',
      price: 179.91,
      currency: 'BRL',
      method: 'Pix',
      discountPercentage: 10,
      showInProductPage: true,
      showInProductList: false,
      textColor: '#15803d',
      fontSize: 16,
    })
    const price = async (productId: string) => (await shown(shop, productId))?.featuredPrice?.price
    expect(await price('2002')).toBe(72)
    await save(shop, { featuredPrice: { applyToSalePrice: false } })
    expect([await price('2001'), await price('2002')]).toEqual([179.91, undefined])
    await save(shop, { featuredPrice: { applyToSalePrice: true, minAmount: 80 } })
    expect(await price('2002')).toBe(72)
    await save(shop, { featuredPrice: { minAmount: 80.01 } })
    expect(await price('2002')).toBeUndefined()
    await save(shop, { featuredPrice: { minAmount: 0, excludedProductIds: ['2001'] } })
    expect(await price('2001')).toBeUndefined()
    await save(shop, { featuredPrice: { discountPercentage: 12.5 } })
    expect(await price('2002')).toBe(70)
    expect((await shown(shop)).featuredPrice).toMatchObject({ excludedProductIds: ['2001'], method: 'Pix' })
  })
})
