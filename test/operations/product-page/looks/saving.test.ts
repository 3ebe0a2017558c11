import { beforeAll, describe, expect, test } from 'vitest'
import listNotifications from '#operations/notifications/api/list-notifications'
import deleteLook from '#operations/product-page/looks/api/delete-look'
import getSettings from '#operations/product-page/looks/api/get-settings'
import listHomeSections from '#operations/product-page/looks/api/list-home-sections'
import listLooks from '#operations/product-page/looks/api/list-looks'
import listProblems from '#operations/product-page/looks/api/list-problems'
import revalidateLook from '#operations/product-page/looks/api/revalidate-look'
import saveLook from '#operations/product-page/looks/api/save-look'
import saveSettings from '#operations/product-page/looks/api/save-settings'
import { changeSandboxProduct } from '#operations/store/ecommerce/sandbox-product-change'
import { productSnapshotsRefresh } from '#operations/storefront/handles'
import { newId } from '#runtime/values/ids'
import { type TestApp, testApp } from '#test/support/app'
import { copyRow } from '#test/support/copies'
import { type DiscountShop, discountStore } from '#test/support/discounts'
import { refused } from '#test/support/refused'
import { store } from '#test/support/store'
import { sendEvents, someVisitor, visit } from '#test/support/storefront'

let app: TestApp
beforeAll(async () => {
  app = await testApp()
  await app.setClock('2026-11-20T12:00:00.000Z')
})

const picture = 'https://cdn.example.com/look.jpg'

/** A store that also has `1003` (stock 10) and `1039` (sold out). */
async function lookShop(options: Parameters<typeof discountStore>[1] = {}) {
  const shop = await discountStore(app, options)
  await changeSandboxProduct(shop.platform, '1003', { name: 'Bandeja', price: 80, stock: 10 })
  await changeSandboxProduct(shop.platform, '1039', { name: 'Quadro', price: 50, stock: 0 })
  return shop
}
const lookBody = (change: object = {}) => ({
  name: 'Sala',
  imageUrl: picture,
  items: [{ productId: '1001', variantId: '2002', quantity: 2 }, { productId: '1002' }],
  ...change,
})
const create = async (shop: DiscountShop, change: object = {}) => {
  const { status, body } = await shop.call(saveLook, { body: lookBody(change) })
  expect(status, JSON.stringify(body)).toBe(200)
  return body
}

describe('a look', () => {
  test('a look has defaults, its items as on the platform, and their total', async () => {
    const shop = await lookShop()
    const look = await create(shop, {
      description: '',
      items: [
        { productId: '1001', variantId: '2002', quantity: 2, hotspot: { x: 12.5, y: 80 } },
        { productId: '1002' },
      ],
    })
    expect(look).toMatchObject({
      ...{ name: 'Sala', description: null, imageAlt: null, isActive: true, showOnProductPages: true },
      ...{ health: 'healthy', checkedAt: '2026-11-20T12:00:00.000Z', total: 220, currency: 'BRL' },
      ...{ impressions: 0, clicks: 0, addsToCart: 0 },
    })
    expect(look.items).toMatchObject([
      { productId: '1001', quantity: 2, hotspot: { x: 12.5, y: 80 }, unitPrice: 60, status: 'available' },
      { productId: '1002', variantId: null, quantity: 1, hotspot: null, name: 'Avental', unitPrice: 100 },
    ])
    expect((await shop.call(listLooks)).body.data).toEqual([look])
  })

  test('a look sent back unchanged changes nothing; a field left out keeps its value', async () => {
    const shop = await lookShop()
    const look = await create(shop, { imageAlt: 'Uma sala' })
    await app.advance(1000)
    expect((await shop.call(saveLook, { body: look })).body).toEqual(look)
    const changed = await shop.call(saveLook, { body: { id: look.id, name: 'Quarto' } })
    expect(changed.body).toMatchObject({ name: 'Quarto', imageAlt: 'Uma sala', items: look.items })
    expect(changed.body.updatedAt > look.updatedAt).toBe(true)
  })

  test.each<[string, object]>([
    ['items', { items: undefined }],
    ['items.1.variantId', { items: [{ productId: '1002' }, { productId: '1001', variantId: '9' }] }],
    ['items.1', { items: [{ productId: '1002' }, { productId: '1002' }] }],
    ['items', { items: [{ productId: '1002' }] }],
    ['imageUrl', { imageUrl: 'http://cdn.example.com/a.jpg' }],
  ])('refuses %s that cannot be', async (field, change) => {
    expect(await (await lookShop()).call(saveLook, { body: lookBody(change) })).toMatchObject(
      refused(400, field),
    )
  })

  test('a platform outage writes nothing; saved references are not checked again', async () => {
    const shop = await lookShop()
    const look = await create(shop)
    await shop.setDown(true)
    expect((await shop.call(saveLook, { body: lookBody({ name: 'Outra' }) })).status).toBe(503)
    expect((await shop.call(saveLook, { body: { ...look, name: 'Nova' } })).status).toBe(200)
    await shop.setDown(false)
    expect((await shop.call(listLooks)).body.data).toMatchObject([{ name: 'Nova' }])
    const unconnected = await store(app)
    expect((await unconnected.call(saveLook, { body: lookBody() })).status).toBe(409)
  })

  test('a store has at most 200 looks', async () => {
    const shop = await lookShop()
    const { id } = await create(shop)
    expect((await shop.call(saveLook, { body: { id: newId(1), name: 'X' } })).status).toBe(404)
    await copyRow(app, 'looks', id, { count: 199, json: ['content'] })
    expect((await shop.call(saveLook, { body: lookBody() })).status).toBe(409)
  })

  test('looks are found by product, search text, health and state', async () => {
    const shop = await lookShop()
    await create(shop, { name: 'Cozinha clara' })
    await create(shop, {
      name: 'Parede',
      isActive: false,
      items: [{ productId: '1039' }, { productId: '1003' }],
    })
    const names = async (query: Record<string, string | boolean>) =>
      (await shop.call(listLooks, { query })).body.data.map((each: { name: string }) => each.name)
    expect(await names({})).toEqual(['Parede', 'Cozinha clara'])
    expect(await names({ search: 'CLARA' })).toEqual(['Cozinha clara'])
    expect(await names({ productId: '1003' })).toEqual(['Parede'])
    expect(await names({ isActive: true })).toEqual(['Cozinha clara'])
    expect(await names({ health: 'broken' })).toEqual(['Parede'])
  })
})

describe('health', () => {
  test('a sold-out item degrades a look; revalidated after new stock it is healthy', async () => {
    const shop = await lookShop()
    const items = [{ productId: '1039' }, { productId: '1001' }, { productId: '1002' }]
    const look = await create(shop, { items })
    expect(look.health).toBe('degraded')
    const problems = await shop.call(listProblems)
    expect(problems.body).toMatchObject({
      total: 1,
      summary: { healthy: 0, degraded: 1, broken: 0 },
      data: [
        {
          ...{ lookId: look.id, name: 'Sala', health: 'degraded' },
          problems: [{ productId: '1039', variantId: null, name: 'Quadro', status: 'out-of-stock' }],
        },
      ],
    })
    await app.advance(60_000)
    await changeSandboxProduct(shop.platform, '1039', { stock: 5 })
    await shop.setDown(true)
    expect((await shop.call(revalidateLook, { params: { id: look.id } })).status).toBe(503)
    expect((await shop.call(listLooks)).body.data).toEqual([look])
    await shop.setDown(false)
    const checked = await shop.call(revalidateLook, { params: { id: look.id } })
    expect(checked.body).toMatchObject({ health: 'healthy', checkedAt: app.clock.now().toISOString() })
    expect(checked.body.updatedAt).toBe(look.updatedAt)
    expect((await shop.call(listProblems)).body).toMatchObject({ total: 0, summary: { healthy: 1 } })
  })

  test('health follows the catalog; each change to broken notifies once', async () => {
    const shop = await lookShop()
    const look = await create(shop)
    const notices = async () =>
      (await shop.call(listNotifications)).body.data.filter(
        (each: { type: string }) => each.type === 'look-broken',
      )
    const refreshAll = async () => {
      await (await shop.context()).queue(productSnapshotsRefresh, {})
      await app.drainJobs()
      return (await shop.call(listLooks)).body.data[0]
    }
    await app.advance(60_000)
    await changeSandboxProduct(shop.platform, '1002', { isPublished: false })
    expect(await refreshAll()).toMatchObject({ health: 'broken', total: 220 })
    expect(await notices()).toHaveLength(1)
    await app.advance(60_000)
    const again = await refreshAll()
    expect(again).toMatchObject({ health: 'broken', checkedAt: app.clock.now().toISOString() })
    expect((await shop.call(revalidateLook, { params: { id: look.id } })).body.health).toBe('broken')
    expect(await notices()).toHaveLength(1)
    await app.advance(60_000)
    await changeSandboxProduct(shop.platform, '1002', { isPublished: true })
    expect((await shop.call(revalidateLook, { params: { id: look.id } })).body.health).toBe('healthy')
    await app.advance(60_000)
    await changeSandboxProduct(shop.platform, '1002', { isDeleted: true })
    const [gone] = (await Promise.all(
      [1, 2, 3].map(() => shop.call(revalidateLook, { params: { id: look.id } })),
    )) as [Awaited<ReturnType<typeof shop.call>>]
    expect(gone.body).toMatchObject({ health: 'broken', total: 120 })
    expect(gone.body.items[1]).toMatchObject({ productId: '1002', status: 'missing', unitPrice: null })
    expect(await notices()).toHaveLength(2)
    // A deleted product that is already saved may be sent back.
    expect((await shop.call(saveLook, { body: { ...gone.body, name: 'Fica' } })).status).toBe(200)
  })

  test('broken looks come first, then the oldest check', async () => {
    const shop = await lookShop()
    const soldOut = { items: [{ productId: '1039' }, { productId: '1001' }, { productId: '1002' }] }
    await create(shop, { name: 'A', ...soldOut })
    await app.advance(1000)
    await create(shop, { name: 'B', items: [{ productId: '1039' }, { productId: '1001' }] })
    await app.advance(1000)
    const { id } = await create(shop, { name: 'C', ...soldOut })
    const names = async (query = {}) =>
      (await shop.call(listProblems, { query })).body.data.map((each: { name: string }) => each.name)
    expect(await names()).toEqual(['B', 'A', 'C'])
    expect(await names({ health: 'degraded' })).toEqual(['A', 'C'])
    await app.advance(1000)
    await shop.call(revalidateLook, { params: { id } })
    expect((await shop.call(listProblems)).body.summary).toEqual({ healthy: 0, degraded: 2, broken: 1 })
  })
})

describe('settings and the home page', () => {
  test('sections name looks of the store, each once', async () => {
    const shop = await lookShop()
    expect((await shop.call(getSettings)).body).toMatchObject({
      ...{ isEnabled: false, title: 'Shop the look', buttonText: 'Add all to cart', homeSections: [] },
      ...{ unavailableItems: 'hide', updatedAt: null },
    })
    const look = await create(shop)
    const section = { key: 'inverno', title: 'Inverno', lookIds: [look.id] }
    const saved = await shop.call(saveSettings, { body: { isEnabled: true, homeSections: [section] } })
    expect(saved.body.homeSections).toEqual([
      { ...section, subtitle: null, layout: 'carousel', isEnabled: true },
    ])
    const bad = async (homeSections: object[]) => {
      const { status, body } = await shop.call(saveSettings, { body: { homeSections } })
      expect(status).toBe(400)
      return body.error.message as string
    }
    expect(await bad([section, section])).toContain('homeSections.1.key')
    expect(await bad([{ ...section, lookIds: [look.id, look.id] }])).toContain('lookIds')
    expect(await bad([{ ...section, key: 'Não' }])).toContain('key')
  })

  test('a deleted look is removed from its sections, and an empty section is removed', async () => {
    const shop = await lookShop()
    const [a, b] = [await create(shop, { name: 'A' }), await create(shop, { name: 'B', isActive: false })]
    await shop.call(saveSettings, {
      body: {
        homeSections: [
          { key: 'both', title: 'Both', lookIds: [b.id, a.id] },
          { key: 'one', title: 'One', lookIds: [a.id], layout: 'grid' },
        ],
      },
    })
    expect((await shop.call(listHomeSections)).body.data).toEqual([
      {
        key: 'both',
        title: 'Both',
        subtitle: null,
        layout: 'carousel',
        isEnabled: true,
        looks: [a],
        hiddenLooks: 1,
      },
      {
        key: 'one',
        title: 'One',
        subtitle: null,
        layout: 'grid',
        isEnabled: true,
        looks: [a],
        hiddenLooks: 0,
      },
    ])
    expect((await shop.call(deleteLook, { params: { id: a.id } })).status).toBe(204)
    expect((await shop.call(deleteLook, { params: { id: a.id } })).status).toBe(404)
    const { body } = await shop.call(getSettings)
    expect(body.homeSections).toMatchObject([{ key: 'both', lookIds: [b.id] }])
    expect((await shop.call(saveSettings, { body })).body).toEqual(body)
  })

  test('shoppers see active looks on their pages, without unavailable items', async () => {
    const shop = await lookShop()
    const items = [{ productId: '1039' }, { productId: '1001' }, { productId: '1002' }]
    const look = await create(shop, { items })
    const hidden = await create(shop, { name: 'Só na capa', showOnProductPages: false })
    const page = async (query: string) => (await visit(shop, `/widgets?page=${query}`)).body.looks
    expect(await page('product&productId=1001')).toBeUndefined()
    await shop.call(saveSettings, {
      body: {
        isEnabled: true,
        homeSections: [{ key: 'capa', title: 'Capa', lookIds: [hidden.id, look.id] }],
      },
    })
    const shown = await page('product&productId=1001')
    expect(shown.items).toHaveLength(1)
    expect(shown.items[0].items.map((each: { productId: string }) => each.productId)).toEqual([
      '1001',
      '1002',
    ])
    expect(Object.keys(shown.items[0])).not.toEqual(expect.arrayContaining(['health', 'impressions']))
    expect(shown.settings).not.toHaveProperty('updatedAt')
    expect((await page('home')).sections).toMatchObject([
      { key: 'capa', items: [{ name: 'Só na capa' }, { name: 'Sala' }] },
    ])
    await shop.call(saveSettings, { body: { unavailableItems: 'show-sold-out' } })
    expect((await page('product&productId=1001')).items[0].items).toHaveLength(3)
    await shop.call(saveLook, { body: { id: look.id, isActive: false } })
    expect(await page('product&productId=1001')).toBeUndefined()
  })

  test('impressions, clicks and additions to the cart are counted for ever', async () => {
    const shop = await lookShop()
    const { id: resourceId } = await create(shop)
    const visitorId = someVisitor()
    const event = (type: string) => ({ type, widget: 'look', resourceId })
    await sendEvents(shop, [event('impression'), event('impression'), event('click'), event('cart-add')], {
      visitorId,
    })
    expect((await shop.call(listLooks)).body.data[0]).toMatchObject({
      ...{ impressions: 1, clicks: 1, addsToCart: 1 },
    })
  })
})
