import { describe, expect, test } from 'vitest'
import changeSticker from '#operations/product-page/labels/api/change-sticker'
import createSticker from '#operations/product-page/labels/api/create-sticker'
import deleteSticker from '#operations/product-page/labels/api/delete-sticker'
import listStickers from '#operations/product-page/labels/api/list-stickers'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 100_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const preset = { name: 'Novo', kind: 'preset', preset: 'new' }
const create = (shop: Shop, body: object) => shop.call(createSticker, { body })
const change = (shop: Shop, body: object) => shop.call(changeSticker, { body })
const made = async (shop: Shop, body: object = {}) => {
  const answer = await create(shop, { ...preset, ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}
const shown = async (shop: Shop, productId?: string) =>
  (await visit(shop, `/widgets?page=product${productId ? `&productId=${productId}` : ''}`)).body.stickers
    ?.items ?? []

describe('a sticker', () => {
  test('a sticker has defaults; sent back it is unchanged; fields unused by its kind are emptied', async () => {
    const shop = await store(app)
    const sticker = await made(shop, { text: 'ignored', imageUrl: 'https://x.example/a.png' })
    expect(sticker).toEqual({
      id: sticker.id,
      ...preset,
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
      imageUrl: null,
      text: null,
      position: 'top-left',
      widthPercentage: 20,
      backgroundColor: '#dc2626',
      textColor: '#ffffff',
      createdAt: app.clock.now().toISOString(),
      updatedAt: app.clock.now().toISOString(),
    })
    await app.advance(1000)
    expect((await change(shop, sticker)).body).toEqual(sticker)
    const text = await change(shop, { id: sticker.id, kind: 'text', text: '-20 %' })
    expect(text.body).toMatchObject({ kind: 'text', text: '-20 %', preset: null })
    expect(text.body.updatedAt).toBe(app.clock.now().toISOString())
    const lacking = await change(shop, { id: sticker.id, kind: 'preset' })
    expect(lacking).toMatchObject(refused(400, 'preset'))
    expect((await shop.call(deleteSticker, { params: { id: sticker.id } })).status).toBe(204)
  })

  test.each<[string, object]>([
    ['imageUrl', { kind: 'image' }],
    ['imageUrl', { kind: 'image', imageUrl: 'http://elsewhere.example/a.png' }],
    ['text', { kind: 'text' }],
    ['conditionValue', { condition: 'new' }],
    ['conditionValue', { condition: 'low-stock', conditionValue: 366 }],
    ['productIds', { scope: 'products' }],
    ['endsAt', { endsAt: '2026-01-01T00:00:00.000Z' }],
  ])('refuses %s out of its bounds', async (field, body) => {
    expect(await create(await store(app), { ...preset, ...body })).toMatchObject(refused(400, field))
  })

  test('stickers are sorted by priority, then newest; a store has at most fifty', async () => {
    const shop = await store(app)
    await made(shop, { name: 'first' })
    await made(shop, { name: 'off', isActive: false })
    await made(shop, { name: 'low', priority: 1 })
    const names = async (query = {}) =>
      (await shop.call(listStickers, { query })).body.data.map((each: { name: string }) => each.name)
    expect(await names()).toEqual(['low', 'off', 'first'])
    expect(await names({ isActive: true })).toEqual(['low', 'first'])
    expect((await change(shop, { id: newId(1), name: 'x' })).status).toBe(404)
    for (let n = 3; n < 50; n += 1) await made(shop)
    expect((await create(shop, preset)).status).toBe(409)
  })
})

test('the storefront shows stickers as long as the product meets their condition', async () => {
  const shop = await connectedStore(app)
  const product = (id: string, stock: number, more: object = {}) => ({
    id,
    name: `Product ${id}`,
    variants: [{ id: `${id}-1`, sku: id, price: 100, stock, ...more }],
  })
  await putProducts(shop.platform, [
    product('2001', 3),
    product('2002', 0),
    product('2003', 50, { compareAtPrice: 150 }),
  ])
  // Named by a sticker, so that the catalog cache has them.
  const ids = ['2001', '2002', '2003']
  await made(shop, { name: 'named', text: 'named', kind: 'text', scope: 'products', productIds: ids })
  for (const [condition, conditionValue] of [
    ['low-stock', 3],
    ['out-of-stock', null],
    ['on-sale', null],
    ['new', 2],
  ] as const) {
    await made(shop, { name: condition, kind: 'text', text: condition, condition, conditionValue })
  }
  const texts = async (productId: string) =>
    (await shown(shop, productId)).map((each: { text: string }) => each.text).sort()
  expect(await texts('2001')).toEqual(['low-stock', 'named', 'new'])
  expect(await texts('2002')).toEqual(['named', 'new', 'out-of-stock'])
  expect(await texts('2003')).toEqual(['named', 'new', 'on-sale'])
  expect(await texts('unknown')).toEqual([])
  const [first] = await shown(shop, '2001')
  expect(first).not.toHaveProperty('name')
  expect(first).not.toHaveProperty('productIds')
  expect((await shown(shop))[0]).toMatchObject({ scope: 'products', productIds: ids, condition: 'always' })
  const inList = async (productId: string) => {
    const { body } = await visit(shop, '/widgets?page=category&cards=2001,2003,elsewhere')
    const items = body.cards[productId]?.stickers?.items ?? []
    return items.map((each: { text: string }) => each.text).sort()
  }
  expect(await inList('2001')).toEqual(['low-stock', 'named', 'new'])
  expect(await inList('2003')).toEqual(['named', 'new', 'on-sale'])
  expect(await inList('2002')).toEqual([])
  expect(await inList('elsewhere')).toEqual([])
  await app.advance(2 * 86_400_000)
  expect(await texts('2001')).toEqual(['low-stock', 'named'])
  expect(await inList('2003')).toEqual(['named', 'on-sale'])
})
