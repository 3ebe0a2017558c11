import { describe, expect, test } from 'vitest'
import createAlert from '#operations/bars/alerts/api/create-alert'
import getAlert from '#operations/bars/alerts/api/get-alert'
import listAlerts from '#operations/bars/alerts/api/list-alerts'
import listVariables from '#operations/bars/alerts/api/list-variables'
import updateAlert from '#operations/bars/alerts/api/update-alert'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'
import { sendEvents, visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const create = (shop: Shop, body: object) => shop.call(createAlert, { body })
const update = (shop: Shop, body: object) => shop.call(updateAlert, { body })
const types = [
  'recent-purchases',
  'purchase-count',
  'live-visitors',
  'product-views',
  'cart-adds',
  'recent-reviews',
  'low-stock',
]

describe('alerts', () => {
  test('each type has one alert, with defaults until it is created', async () => {
    const shop = await store(app)
    const { body } = await shop.call(listAlerts)
    expect(body.data.map((each: { alertType: string }) => each.alertType)).toEqual(types)
    expect(body.data.every((each: { id: null }) => each.id === null)).toBe(true)
    expect(body.data.map((each: { windowHours: number }) => each.windowHours)).toEqual([
      72, 48, 1, 24, 24, 720, 24,
    ])
    expect(body.data.map((each: { minCount: number }) => each.minCount)).toEqual([1, 5, 3, 20, 3, 1, 1])
    expect(body.data[3]).toMatchObject({
      text: '{{count}} views in the last {{hours}} hours',
      isEnabled: false,
      initialDelaySeconds: 5,
      displaySeconds: 6,
      intervalSeconds: 15,
      maxPerPage: 5,
      maxPerSession: 20,
      nameFormat: 'first-name',
      position: 'bottom-left',
      borderRadius: 8,
      createdAt: null,
      updatedAt: null,
    })
    const one = await shop.call(getAlert, { params: { alertType: 'product-views' } })
    expect(one.body).toEqual(body.data[3])
    expect((await shop.call(getAlert, { params: { alertType: 'nope' } })).status).toBe(404)
  })

  test('an alert is created once, also by concurrent calls', async () => {
    const shop = await store(app)
    const made = await create(shop, { alertType: 'low-stock', isEnabled: true })
    expect(made).toMatchObject({ status: 201, body: { alertType: 'low-stock', isEnabled: true } })
    expect((await create(shop, { alertType: 'low-stock' })).status).toBe(409)
    const both = await Promise.all([1, 2].map(() => create(shop, { alertType: 'cart-adds' })))
    expect(both.map((each) => each.status).sort()).toEqual([201, 409])
  })

  test('an alert supports only the variables of its type', async () => {
    const shop = await store(app)
    expect(await create(shop, { alertType: 'product-views', text: '{{count}} in {{city}}' })).toMatchObject(
      refused(400, '{{city}}'),
    )
    const made = (await create(shop, { alertType: 'product-views' })).body
    expect(await update(shop, { id: made.id, text: '{{firstName}}' })).toMatchObject(
      refused(400, '{{firstName}}'),
    )
    const { data } = (await shop.call(listVariables)).body
    expect(data.map((each: { name: string }) => each.name)).toContain('reviewText')
    const ofType = (await shop.call(listVariables, { query: { alertType: 'product-views' } })).body.data
    expect(ofType.map((each: { name: string }) => each.name)).toEqual(['productName', 'count', 'hours'])
    expect(ofType[1].alertTypes).toEqual(['purchase-count', 'live-visitors', 'product-views', 'cart-adds'])
    expect((await shop.call(listVariables, { query: { alertType: 'nope' } })).status).toBe(400)
  })

  test.each<[string, object]>([
    ['alertType', {}],
    ['maxPerSession', { alertType: 'low-stock', maxPerPage: 21 }],
  ])('%s out of its bounds is refused', async (field, body) => {
    expect(await create(await store(app), body)).toMatchObject(refused(400, field))
  })

  test('a change is merged and keeps the type; equal values change nothing', async () => {
    const shop = await connectedStore(app)
    const { body } = await create(shop, { alertType: 'low-stock', excludedProductIds: ['1001'] })
    await app.advance(1000)
    expect((await update(shop, body)).body).toEqual(body)
    const changed = await update(shop, { id: body.id, alertType: 'cart-adds', isEnabled: true, minCount: 2 })
    expect(changed.body).toEqual({
      ...body,
      isEnabled: true,
      minCount: 2,
      updatedAt: app.clock.now().toISOString(),
    })
    expect((await update(shop, { id: body.id, maxPerSession: 4 })).status).toBe(400)
    expect((await update(shop, { id: crypto.randomUUID(), isEnabled: true })).status).toBe(404)
  })

  test('enabled alerts are on the storefront and counted there', async () => {
    const shop = await store(app)
    await create(shop, { alertType: 'low-stock', isEnabled: true, text: 'Só {{stock}}' })
    await create(shop, { alertType: 'cart-adds' })
    const { fomoAlerts } = (await visit(shop, '/widgets')).body
    expect(fomoAlerts).toHaveLength(1)
    expect(fomoAlerts[0]).toMatchObject({ alertType: 'low-stock', maxPerPage: 5 })
    expect(fomoAlerts[0]).not.toHaveProperty('minCount')
    await sendEvents(shop, [
      { type: 'impression', widget: 'fomo-alert', resourceId: 'low-stock' },
      { type: 'click', widget: 'fomo-alert', resourceId: 'low-stock' },
      { type: 'impression', widget: 'fomo-alert', resourceId: 'cart-adds' },
      { type: 'impression', widget: 'fomo-alert', resourceId: 'nope' },
    ])
    const days = await app.database.root
      .selectFrom('widget_daily')
      .selectAll()
      .where('store_id', '=', shop.id)
      .execute()
    expect(days).toMatchObject([
      { widget: 'fomo-alert', resource_id: 'low-stock', impressions: 1, clicks: 1 },
    ])
  })
})
