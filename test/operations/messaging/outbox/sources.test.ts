/**
 * The contract of every outbox source: one recipient, and what can happen during delivery. In every case they get one
 * message or none, the quota units are exact, and an unsent message has a reason, with the same codes in all sources.
 */
import { describe, expect, test, vi } from 'vitest'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import sendTeamMessage from '#operations/inbox/messages/api/send-message'
import { optOuts, outbox } from '#operations/messaging/index'
import { notifyConnected } from '#operations/messaging/numbers/connected'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendSingle from '#operations/messaging/sends/api/send-message'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { AccessLost } from '#runtime/ports/errors'
import { unwrapAdapter } from '#runtime/ports/instrumentation'
import { connectNumber } from '#scripts/seed/connect-number'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, requested } from '#test/operations/exchanges/support'
import { reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { ana, automationShop, never } from '#test/support/automations'
import { sendingShop } from '#test/support/campaigns'
import { inboxShop } from '#test/support/inbox'
import { post, readUsage } from '#test/support/numbers'
import { stockShop } from '#test/support/stock'
import type { Shop } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ storefrontAcceptedIp: 1000 })
const sandbox = getSandbox(app.services.adapters.messaging)
const noon = '2026-11-20T15:00:00.000Z'
const { phone } = ana
const minute = 60_000

interface Started {
  shop: Shop
  /** Makes its message due. */
  go(): Promise<unknown>
}
const qr = { type: 'qr', phone: '+5511400010001' } as const

/** Creates a message of each source, to Ana. */
const drivers: Record<string, () => Promise<Started>> = {
  async dm() {
    const shop = await sendingShop(app)
    return { shop, go: () => shop.call(sendSingle, { body: { phone, text: 'Oi' } }) }
  },
  async in() {
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi', occurredAt: app.clock.now() })
    const { id } = await shop.conversation()
    const body = { type: 'text', text: 'Sim' }
    return { shop, go: () => shop.call(sendTeamMessage, { params: { id }, body }) }
  },
  async rv() {
    const shop = await reviewShop(app)
    await connectNumber(await shop.context(), qr)
    await shop.settings({ request: { isEnabled: true, channel: 'messaging', delayDays: 1 } })
    const order = await shop.place({ customer: ana, items: [{ variantId: '2001', quantity: 1 }] })
    await shop.deliver(await shop.change(order, { fulfillmentStatus: 'delivered' }))
    await app.drainJobs()
    return { shop, go: () => shop.call(sendDispatchesNow, { body: { all: true } }) }
  },
  async ex() {
    const shop = await exchangeShop(app, {
      messaging: { isEnabled: true, approved: { text: 'Oi {{firstName}}' } },
    })
    await connectNumber(await shop.context(), qr)
    const request = await requested(shop)
    await app.drainJobs()
    return { shop, go: () => approve(shop, request.id) }
  },
  async st() {
    const shop = await stockShop(app)
    await shop.ask({ phone })
    const go = () => post(app, `/sandbox/api/ecommerce/${shop.id}/variants/3001/stock`, { stock: 9 })
    return { shop, go }
  },
  async au() {
    const shop = await automationShop(app)
    await shop.automation({ type: 'abandoned-cart', quietHours: never })
    await shop.cart()
    return { shop, go: () => app.setClock('2026-11-20T16:00:00.000Z') }
  },
  async cm() {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list([{ phone, name: 'Ana' }]))
    return { shop, go: () => shop.call(sendCampaign, { params: { id } }) }
  },
}

/** The final status, with the code of a failure. */
type End = 'sent' | string
interface Scenario {
  run(started: Started): Promise<unknown>
  /** For all sources, or by source if its section decides. */
  ends: End | Record<string, End>
}

const advance = async (...minutes: number[]): Promise<void> => {
  for (const each of minutes) {
    await app.advance(each * minute)
    await app.drainJobs()
  }
}
const setMode = (shop: Shop, is: Parameters<typeof sandbox.setMode>[1]) => sandbox.setMode(shop.id, is)
const setConnection = async (shop: Shop, status: string): Promise<void> => {
  await app.database.root
    .updateTable('messaging_connections')
    .set({ status })
    .where('store_id', '=', shop.id)
    .where('status', '<>', 'none')
    .execute()
}
const muteStatuses = () =>
  app.database.root.updateTable('sandbox_messages').set({ next_event_at: null }).execute()

const scenarios: Record<string, Scenario> = {
  'no disturbance': {
    async run({ go }) {
      await go()
      await app.drainJobs()
    },
    ends: 'sent',
  },
  'two parallel workers': {
    async run({ go }) {
      await go()
      await Promise.all([app.drainJobs(), app.drainJobs(), app.drainJobs()])
    },
    ends: 'sent',
  },
  'the answer is lost, and a status event proves the send': {
    async run({ shop, go }) {
      await setMode(shop, 'timeout')
      await go()
      await app.drainJobs()
      await advance(0.1, 0.2, 1)
    },
    ends: 'sent',
  },
  'the answer is lost, and no status event arrives': {
    async run({ shop, go }) {
      await setMode(shop, 'timeout')
      await go()
      await app.drainJobs()
      await muteStatuses()
      await setMode(shop, 'up')
      await advance(3, 3, 3, 3, 16)
    },
    ends: 'sent',
  },
  'the provider throttles for a while': {
    async run({ shop, go }) {
      await setMode(shop, 'throttle')
      await go()
      await app.drainJobs()
      await advance(0.5, 0.5)
      await setMode(shop, 'up')
      await advance(1, 15, 16)
    },
    ends: 'sent',
  },
  'the provider is down for an hour': {
    async run({ shop, go }) {
      await setMode(shop, 'down')
      await go()
      await app.drainJobs()
      await advance(1, 1, 3, 5, 10, 11, 14, 15)
      await setMode(shop, 'up')
      await advance(30, 31)
    },
    // Interactive senders get an error; a campaign asks the merchant.
    ends: { dm: 'failed provider-error', in: 'failed provider-error', cm: 'pending', rest: 'sent' },
  },
  'the provider is down for three hours': {
    async run({ shop, go }) {
      await setMode(shop, 'down')
      await go()
      await app.drainJobs()
      await advance(1, 1, 5, 15, 15, 60, 15, 60, 15)
      await setMode(shop, 'up')
      await advance(16, 31)
    },
    // Automatic messages continue by themselves.
    ends: { dm: 'failed provider-error', in: 'failed provider-error', cm: 'pending', rest: 'sent' },
  },
  'access to the number is lost and restored': {
    async run({ go }) {
      const gone = async () => {
        throw new AccessLost('token-revoked', 'The token was revoked', 'Connect the number again')
      }
      const sends = ['sendText', 'sendMedia', 'sendTemplate'] as const
      for (const name of sends) vi.spyOn(unwrapAdapter(sandbox), name).mockImplementation(gone)
      try {
        await go()
        await app.drainJobs()
        await advance(2, 20)
      } finally {
        vi.restoreAllMocks()
      }
      await advance(61, 16)
    },
    ends: { dm: 'failed disconnected', in: 'failed disconnected', cm: 'none', rest: 'sent' },
  },
  'the number is disconnected and connected again': {
    async run({ shop, go }) {
      await setMode(shop, 'down')
      await go()
      await app.drainJobs()
      await setConnection(shop, 'disconnected')
      await setMode(shop, 'up')
      await advance(2)
      await setConnection(shop, 'connected')
      const ctx = await shop.context()
      await ctx.transaction((tx) => notifyConnected(tx, 'qr'))
      await advance(1, 15, 16)
    },
    // A campaign without a single attempt has failed, and is unchanged.
    ends: { dm: 'failed disconnected', in: 'failed disconnected', cm: 'none', rest: 'sent' },
  },
  'the recipient opts out meanwhile': {
    async run({ shop, go }) {
      await setMode(shop, 'down')
      await go()
      await app.drainJobs()
      await optOuts.add(await shop.context(), phone, 'manual')
      await setMode(shop, 'up')
      await advance(1, 15, 16)
    },
    ends: {
      dm: 'failed recipient-stopped',
      ex: 'failed recipient-stopped',
      // A reply within the window.
      in: 'sent',
      // Its request is `skipped`, its message was not sent.
      rv: 'failed opted-out',
      st: 'cancelled opted-out',
      // A campaign without recipients has failed, too.
      cm: 'none',
      au: 'skipped',
    },
  },
}

const senders = app.services.extensions.senders
function getSource(kind: string): outbox.OutboxSource {
  const sender = senders[kind]
  if (!sender || !('table' in sender)) throw new Error(`${kind} is no outbox source`)
  return sender as unknown as outbox.OutboxSource
}

test('every sender is an outbox source, and every source is tested here', () => {
  expect(Object.keys(senders).sort()).toEqual(Object.keys(drivers).sort())
  for (const kind of Object.keys(senders)) expect(getSource(kind).kind).toBe(kind)
})

/** The full suite runs every sender through every scenario; the fast one each scenario with one sender. */
const kinds = Object.keys(drivers)
const listScenarios = (kind: string) =>
  Object.entries(scenarios).filter((_, at) => isFullSuite || kinds[at % kinds.length] === kind)

describe.each(kinds)('%s', (kind) => {
  test.each(listScenarios(kind))('%s', async (_name, { run, ends }) => {
    await app.setClock(noon)
    const started = await drivers[kind]!()
    await run(started)
    const { shop } = started
    const rows = (await outbox
      .selectMessages(await shop.context(), getSource(kind))
      .execute()) as unknown as outbox.MessageState[]
    const row = rows.find((each) => each.phone !== null && each.status !== 'received')
    const isSent = row !== undefined && row.sentAt !== null
    const end = isSent ? 'sent' : row ? [row.status, row.code].filter(Boolean).join(' ') : 'none'
    expect(end).toBe(typeof ends === 'string' ? ends : (ends[kind] ?? ends.rest))
    const left = await sandbox.outbox(shop.id, phone)
    expect(left).toHaveLength(isSent ? 1 : 0)
    const holds = row?.status === 'pending' && kind === 'cm'
    expect(await readUsage(shop)).toEqual({ used: isSent ? 1 : 0, reserved: holds ? 1 : 0 })
  })
})

test('if two sources want the last unit at once, one message is sent and the other has a reason', async () => {
  await app.setClock(noon)
  const shop = await sendingShop(app)
  const id = await shop.draft(await shop.list([{ phone, name: 'Ana' }]))
  await shop.setQuota(1)
  const other = '+5511910000016'
  const [sent, single] = await Promise.all([
    shop.call(sendCampaign, { params: { id } }),
    shop.call(sendSingle, { body: { phone: other, text: 'Oi' } }),
  ])
  await app.drainJobs()
  expect(await sandbox.outbox(shop.id)).toHaveLength(1)
  expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  const campaign = await shop.read(id)
  const reasons = [
    ...(single.status === 201 ? [] : [single.body.error.code]),
    ...(sent.status === 403 ? [sent.body.error.code] : []),
    ...(campaign.failureReason ? [campaign.failureReason] : []),
  ]
  expect(reasons).toHaveLength(1)
})
