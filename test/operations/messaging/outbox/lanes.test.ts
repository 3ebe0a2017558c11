/**
 * The contract of every lane: one recipient, and what may happen on the way. Whatever it is, they get one message or none,
 * the units are exact, and who got nothing has a reason, in the same words in all lanes.
 */
import { describe, expect, test, vi } from 'vitest'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import sendTeamMessage from '#operations/inbox/messages/api/send-message'
import { optOuts, outbox } from '#operations/messaging/door'
import { tellConnected } from '#operations/messaging/numbers/connected'
import { sandboxOf } from '#operations/messaging/provider/sandbox'
import sendSingle from '#operations/messaging/sends/api/send-message'
import sendDispatchesNow from '#operations/reviews/requests/api/send-dispatches-now'
import { AccessLost } from '#runtime/ports/errors'
import { unheard } from '#runtime/ports/heard'
import { connectNumber } from '#scripts/seed/connect-number'
import { exchangeShop } from '#test/operations/exchanges/shopper'
import { approve, requested } from '#test/operations/exchanges/support'
import { reviewShop } from '#test/operations/reviews/shop'
import { testApp } from '#test/support/app'
import { ana, automationShop, never } from '#test/support/automations'
import { sendingShop } from '#test/support/campaigns'
import { inboxShop } from '#test/support/inbox'
import { post, usageOf } from '#test/support/numbers'
import { stockShop } from '#test/support/stock'
import type { Shop } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ storefrontAcceptedIp: 1000 })
const sandbox = sandboxOf(app.services.adapters.messaging)
const noon = '2026-11-20T15:00:00.000Z'
const { phone } = ana
const minute = 60_000

interface Started {
  shop: Shop
  /** Makes its message due. */
  go(): Promise<unknown>
}
const qr = { type: 'qr', phone: '+5511400010001' } as const

/** How a message of each lane comes to leave, to Ana. */
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

/** How it ends where it does not leave: its status, and its code where it failed. */
type End = 'sent' | string
interface Scenario {
  happens(started: Started): Promise<unknown>
  /** In all lanes, or by lane: what its section says of it. */
  ends: End | Record<string, End>
}

const later = async (...minutes: number[]): Promise<void> => {
  for (const each of minutes) {
    await app.advance(each * minute)
    await app.drainJobs()
  }
}
const mode = (shop: Shop, is: Parameters<typeof sandbox.setMode>[1]) => sandbox.setMode(shop.id, is)
const setConnection = async (shop: Shop, status: string): Promise<void> => {
  await app.database.root
    .updateTable('messaging_connections')
    .set({ status })
    .where('store_id', '=', shop.id)
    .where('status', '<>', 'none')
    .execute()
}
const silent = () => app.database.root.updateTable('sandbox_messages').set({ next_event_at: null }).execute()

const scenarios: Record<string, Scenario> = {
  'nothing happens': {
    async happens({ go }) {
      await go()
      await app.drainJobs()
    },
    ends: 'sent',
  },
  'two workers at once': {
    async happens({ go }) {
      await go()
      await Promise.all([app.drainJobs(), app.drainJobs(), app.drainJobs()])
    },
    ends: 'sent',
  },
  'the answer is lost, and a status proves it': {
    async happens({ shop, go }) {
      await mode(shop, 'timeout')
      await go()
      await app.drainJobs()
      await later(0.1, 0.2, 1)
    },
    ends: 'sent',
  },
  'the answer is lost, and nothing more is heard': {
    async happens({ shop, go }) {
      await mode(shop, 'timeout')
      await go()
      await app.drainJobs()
      await silent()
      await mode(shop, 'up')
      await later(3, 3, 3, 3, 16)
    },
    ends: 'sent',
  },
  'the provider throttles for a while': {
    async happens({ shop, go }) {
      await mode(shop, 'throttle')
      await go()
      await app.drainJobs()
      await later(0.5, 0.5)
      await mode(shop, 'up')
      await later(1, 15, 16)
    },
    ends: 'sent',
  },
  'the provider is down for an hour': {
    async happens({ shop, go }) {
      await mode(shop, 'down')
      await go()
      await app.drainJobs()
      await later(1, 1, 3, 5, 10, 11, 14, 15)
      await mode(shop, 'up')
      await later(30, 31)
    },
    // Whoever waits in front of it is told; a campaign asks the merchant.
    ends: { dm: 'failed provider-error', in: 'failed provider-error', cm: 'pending', rest: 'sent' },
  },
  'the provider is down for three hours': {
    async happens({ shop, go }) {
      await mode(shop, 'down')
      await go()
      await app.drainJobs()
      await later(1, 1, 5, 15, 15, 60, 15, 60, 15)
      await mode(shop, 'up')
      await later(16, 31)
    },
    // What nobody waits in front of goes on by itself.
    ends: { dm: 'failed provider-error', in: 'failed provider-error', cm: 'pending', rest: 'sent' },
  },
  'our access to the number is gone, and comes back': {
    async happens({ go }) {
      const gone = async () => {
        throw new AccessLost('token-revoked', 'The token was revoked', 'Connect the number again')
      }
      const sends = ['sendText', 'sendMedia', 'sendTemplate'] as const
      for (const name of sends) vi.spyOn(unheard(sandbox), name).mockImplementation(gone)
      try {
        await go()
        await app.drainJobs()
        await later(2, 20)
      } finally {
        vi.restoreAllMocks()
      }
      await later(61, 16)
    },
    ends: { dm: 'failed disconnected', in: 'failed disconnected', cm: 'none', rest: 'sent' },
  },
  'the number is disconnected, and comes back': {
    async happens({ shop, go }) {
      await mode(shop, 'down')
      await go()
      await app.drainJobs()
      await setConnection(shop, 'disconnected')
      await mode(shop, 'up')
      await later(2)
      await setConnection(shop, 'connected')
      const ctx = await shop.context()
      await ctx.transaction((tx) => tellConnected(tx, 'qr'))
      await later(1, 15, 16)
    },
    // A campaign of which nothing was attempted has failed, and is as it was before.
    ends: { dm: 'failed disconnected', in: 'failed disconnected', cm: 'none', rest: 'sent' },
  },
  'the recipient says STOP meanwhile': {
    async happens({ shop, go }) {
      await mode(shop, 'down')
      await go()
      await app.drainJobs()
      await optOuts.add(await shop.context(), phone, 'manual')
      await mode(shop, 'up')
      await later(1, 15, 16)
    },
    ends: {
      dm: 'failed recipient-stopped',
      ex: 'failed recipient-stopped',
      // An answer to who wrote first.
      in: 'sent',
      // Its request is `skipped`, its message did not leave.
      rv: 'failed opted-out',
      st: 'cancelled opted-out',
      // So has one that reaches nobody.
      cm: 'none',
      au: 'skipped',
    },
  },
}

const senders = app.services.wired.senders
function laneOf(kind: string): outbox.Lane {
  const sender = senders[kind]
  if (!sender || !('table' in sender)) throw new Error(`${kind} is no lane of the outbox`)
  return sender as unknown as outbox.Lane
}

test('every sender is a lane, and every lane is here', () => {
  expect(Object.keys(senders).sort()).toEqual(Object.keys(drivers).sort())
  for (const kind of Object.keys(senders)) expect(laneOf(kind).kind).toBe(kind)
})

/** The full suite runs every sender through every scenario; the fast one each scenario with one sender. */
const kinds = Object.keys(drivers)
const scenariosOf = (kind: string) =>
  Object.entries(scenarios).filter((_, at) => isFullSuite || kinds[at % kinds.length] === kind)

describe.each(kinds)('%s', (kind) => {
  test.each(scenariosOf(kind))('%s', async (_name, { happens, ends }) => {
    await app.setClock(noon)
    const started = await drivers[kind]!()
    await happens(started)
    const { shop } = started
    const rows = (await outbox
      .rowsOf(await shop.context(), laneOf(kind))
      .execute()) as unknown as outbox.Standing[]
    const row = rows.find((each) => each.phone !== null && each.status !== 'received')
    const isSent = row !== undefined && row.sentAt !== null
    const end = isSent ? 'sent' : row ? [row.status, row.code].filter(Boolean).join(' ') : 'none'
    expect(end).toBe(typeof ends === 'string' ? ends : (ends[kind] ?? ends.rest))
    const left = await sandbox.outbox(shop.id, phone)
    expect(left).toHaveLength(isSent ? 1 : 0)
    const holds = row?.status === 'pending' && kind === 'cm'
    expect(await usageOf(shop)).toEqual({ used: isSent ? 1 : 0, reserved: holds ? 1 : 0 })
  })
})

test('the last unit is wanted by two lanes at once: one message leaves, and the other has its reason', async () => {
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
