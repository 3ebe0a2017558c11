/** The available units of an order through the life of its requests (exchanges, rule 2). */

import { expect, test } from 'vitest'
import approve from '#operations/exchanges/requests/api/approve-request'
import confirm from '#operations/exchanges/requests/api/confirm-request'
import remove from '#operations/exchanges/requests/api/delete-request'
import list from '#operations/exchanges/requests/api/list-requests'
import reject from '#operations/exchanges/requests/api/reject-request'
import type { PlatformOrder } from '#operations/store/ecommerce/port'
import { dayMs } from '#runtime/durations'
import { type ExchangeShop, exchangeShop } from '#test/operations/exchanges/shopper'
import { testApp } from '#test/support/app'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-09-01T12:00:00.000Z')

const left = async (shop: ExchangeShop, order: PlatformOrder): Promise<number> =>
  (await shop.lookup(order)).body.items[0].availableQuantity
const newest = async (shop: ExchangeShop) => (await shop.call(list)).body.data[0]

test('units that were not approved are free again, and all units of a rejected request', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered()
  const asked = await shop.ask(order, { items: [{ quantity: 2 }] })
  const { id, items } = await newest(shop)
  const decision = { items: [{ id: items[0].id, approvedQuantity: 1 }] }
  const two = await Promise.all([1, 2].map(() => shop.call(approve, { params: { id }, body: decision })))
  expect(two.map(({ status }) => status).sort()).toEqual([200, 409])
  expect((await shop.follow(asked.body.statusUrl)).body).toMatchObject({
    status: 'approved',
    amount: 120,
    items: [{ quantity: 2, approvedQuantity: 1 }],
  })
  expect(await left(shop, order)).toBe(1)
  expect((await shop.ask(order)).status).toBe(201)
  expect(await left(shop, order)).toBe(0)
  const body = { reason: 'A etiqueta foi <tirada>', code: 'not-eligible' }
  expect((await shop.call(reject, { params: { id }, body })).status).toBe(200)
  expect(await left(shop, order)).toBe(1)
  const view = await shop.follow(asked.body.statusUrl)
  expect(view.body).toMatchObject({ status: 'rejected', rejectionReason: body.reason, canCancel: false })
})

test('units of a request that was not sent are free after 28 days; sent in time they are not', async () => {
  const shop = await exchangeShop(app, { autoApprove: true, windowDays: 60 })
  const order = await shop.delivered()
  const [one, other] = [await shop.ask(order), await shop.ask(order)]
  await shop.follow(other.body.statusUrl, '/shipped', { trackingCode: 'BR1' })
  expect(await left(shop, order)).toBe(0)
  await app.advance(28 * dayMs + 15 * 60_000)
  await app.drainJobs()
  expect((await shop.follow(one.body.statusUrl)).body).toMatchObject({ status: 'expired', expiresAt: null })
  expect((await shop.follow(other.body.statusUrl)).body.status).toBe('in-transit')
  expect(await left(shop, order)).toBe(1)
  expect((await shop.follow(one.body.statusUrl, '/shipped', { trackingCode: 'BR2' })).status).toBe(409)
})

test('units of a completed request stay used, even after it is deleted', async () => {
  const shop = await exchangeShop(app, { autoApprove: true })
  const order = await shop.delivered()
  const asked = await shop.ask(order)
  const { id } = await newest(shop)
  await shop.follow(asked.body.statusUrl, '/shipped', { trackingCode: 'BR1' })
  expect((await shop.call(remove, { params: { id } })).status).toBe(409)
  for (const stage of ['received', 'completed']) {
    expect((await shop.call(confirm, { params: { id }, body: { stage } })).status).toBe(200)
    expect((await shop.follow(asked.body.statusUrl)).body.status).toBe(stage)
  }
  expect((await shop.call(remove, { params: { id } })).status).toBe(204)
  expect((await shop.follow(asked.body.statusUrl)).status).toBe(404)
  expect((await shop.follow(asked.body.statusUrl, '/cancel', {})).status).toBe(404)
  expect(await left(shop, order)).toBe(1)
  expect((await shop.ask(order, { items: [{ quantity: 2 }] })).status).toBe(409)
  expect((await shop.ask(order)).status).toBe(201)
})
