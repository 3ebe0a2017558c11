/** A claimed alert is checked again before it is sent: every cause of waiting with every fact that changed. */
import { describe, expect, test } from 'vitest'
import { unsubscribes } from '#operations/capture/index'
import { optOuts } from '#operations/messaging/index'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendSingle from '#operations/stock/sending/api/send-single'
import { runRollout } from '#operations/stock/sending/batch-rollout'
import { checkAlert } from '#operations/stock/sending/send-decision'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { testApp } from '#test/support/app'
import { post } from '#test/support/numbers'
import { makeEmail, makePhone, type StockShop, stockShop } from '#test/support/stock'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontAcceptedIp: 1000 })
const noon = '2026-11-20T12:00:00.000Z'
const hour = 3_600_000
const mode = (shop: StockShop, what: 'up' | 'down') =>
  getSandbox(app.services.adapters.messaging).setMode(shop.id, what)
const setStock = (shop: StockShop, stock: number) =>
  post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock })
const setColumns = (shop: StockShop, table: 'messaging_connections' | 'subscriptions', set: object) =>
  app.database.root.updateTable(table).set(set).where('store_id', '=', shop.id).execute()

/** How a claimed alert comes to wait: from a rollout (stock 9), or sent by hand (stock 0). */
const causes = {
  'an outage': {
    async begin(shop: StockShop, isByHand: boolean) {
      await mode(shop, 'down')
      if (isByHand) await byHand(shop)
      else await setStock(shop, 9)
      await app.drainJobs()
      await mode(shop, 'up')
    },
  },
  'downtime of the worker': {
    async begin(shop: StockShop, isByHand: boolean) {
      if (isByHand) return byHand(shop)
      await setStock(shop, 9)
      await runRollout(await shop.context(), '3001', new AbortController().signal)
    },
  },
} as const
async function byHand(shop: StockShop): Promise<void> {
  const [row] = await shop.all()
  const answer = await shop.call(sendSingle, { params: { notificationId: row.id } })
  expect(answer.status).toBe(202)
}

interface Change {
  change(shop: StockShop): Promise<unknown>
  /** The result of an alert of a rollout, and of one sent by hand. */
  is: [status: string, reason: string | null]
  byHand: [status: string, reason: string | null]
  /** Default: a phone. */
  contact?: { email: string }
}
const waits: Change['is'] = ['waiting', null]
const sent: Change['is'] = ['sent', null]
const unpublished = (shop: StockShop) =>
  putProducts(shop.platform, [
    {
      id: '2000',
      name: 'Luminária',
      isPublished: false,
      variants: [{ id: '3001', name: 'Branca', price: 149.9, stock: 9 }],
    },
  ])
const deleted = (shop: StockShop) =>
  app.database.root
    .deleteFrom('sandbox_objects')
    .where('store_id', '=', shop.id)
    .where('id', '=', '2000')
    .execute()
const changes: Record<string, Change> = {
  nothing: { change: async () => undefined, is: sent, byHand: sent },
  'it was sold out again': { change: (shop) => setStock(shop, 0), is: waits, byHand: sent },
  'the stock is below the threshold': { change: (shop) => setStock(shop, 2), is: waits, byHand: sent },
  'it was unpublished': { change: unpublished, is: waits, byHand: sent },
  'its product was deleted': {
    change: deleted,
    is: ['cancelled', 'product-gone'],
    byHand: ['cancelled', 'product-gone'],
  },
  'alerts were turned off': { change: (shop) => shop.save({ isEnabled: false }), is: waits, byHand: sent },
  'its channel was turned off': {
    change: (shop) => shop.save({ allowPhones: false }),
    is: waits,
    byHand: waits,
  },
  'the plan was lost': {
    change: (shop) => setColumns(shop, 'subscriptions', { status: 'paused', paused_at: app.clock.now() }),
    is: waits,
    byHand: waits,
  },
  'the number was disconnected': {
    change: (shop) => setColumns(shop, 'messaging_connections', { status: 'disconnected' }),
    is: waits,
    byHand: waits,
  },
  'the shopper opted out': {
    change: async (shop) => optOuts.add(await shop.context(), makePhone(1), 'manual'),
    is: ['cancelled', 'opted-out'],
    byHand: ['cancelled', 'opted-out'],
  },
  'the shopper unsubscribed': {
    contact: { email: makeEmail(1) },
    async change(shop) {
      const [row] = await shop.all()
      const link = new URL(unsubscribes.buildLink(await shop.context(), 'stock', row.id))
      const answer = await visit(shop, `/unsubscribe${link.search}`, { body: {} })
      expect(answer.body).toEqual({ status: 'unsubscribed' })
    },
    is: ['cancelled', 'unsubscribed'],
    byHand: ['cancelled', 'unsubscribed'],
  },
}

describe.each(Object.entries(causes))('an alert that waited for %s', (cause, { begin }) => {
  // The sandbox's mail server stays down.
  const known = Object.entries(changes).filter(([, each]) => !each.contact || cause !== 'an outage')
  describe.each([false, true])('by hand: %s', (isByHand) => {
    test.each(known)('%s', async (_name, { change, contact, ...expected }) => {
      await app.setClock(noon)
      const shop = await stockShop(app)
      expect((await shop.ask(contact ?? { phone: makePhone(1) })).status).toBe(201)
      await begin(shop, isByHand)
      expect((await shop.all()).map((row) => row.status)).toEqual(['sending'])
      await change(shop)
      await app.advance(20_000)
      await app.drainJobs()
      const is = isByHand ? expected.byHand : expected.is
      expect((await shop.all()).map((row) => [row.status, row.reason])).toEqual([is])
      expect(await shop.listSent()).toHaveLength(is[0] === 'sent' ? 1 : 0)
      expect(await shop.usage()).toEqual({ used: is[0] === 'sent' && !contact ? 1 : 0, reserved: 0 })
    })
  })
})

test('a requeued subscription is notified when the variant is in stock again', async () => {
  await app.setClock(noon)
  const shop = await stockShop(app)
  await shop.ask({ phone: makePhone(1) })
  await causes['downtime of the worker'].begin(shop, false)
  await shop.restock(0)
  expect((await shop.all())[0].status).toBe('waiting')
  await app.advance(60_000)
  await shop.restock(5)
  expect((await shop.all())[0].status).toBe('sent')
})

test('a day after its claim an alert is not sent: it waits again, or failed if it was tried', async () => {
  await app.setClock(noon)
  const shop = await stockShop(app)
  await shop.ask({ phone: makePhone(1) })
  await causes['downtime of the worker'].begin(shop, true)
  await app.advance(25 * hour)
  await app.drainJobs()
  expect((await shop.all()).map((row) => [row.status, row.reason])).toEqual([waits])
  expect(await shop.listSent()).toEqual([])

  const alert = { channel: 'phone', claimed_at: new Date(noon), called_at: null, is_wanted: true } as never
  const settings = { isEnabled: true, allowEmails: true, allowPhones: true, ignoreStockThreshold: false }
  const at = (hours: number, hasTried: boolean) =>
    checkAlert(alert, { now: new Date(Date.parse(noon) + hours * hour), settings, live: null, hasTried })
      ?.kind ?? null
  expect([at(23.9, false), at(23.9, true), at(24, false), at(24, true)]).toEqual([
    null,
    null,
    'requeued',
    'failed',
  ])
})
