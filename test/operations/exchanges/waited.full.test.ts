/** Preconditions of a waiting notice are checked again before it is sent: every cause of waiting, every change meanwhile. */
import { describe, expect, test } from 'vitest'
import { isStillTrue, statuses } from '#operations/exchanges/requests/transitions'
import { events } from '#operations/exchanges/settings/schema'
import { optOuts } from '#operations/messaging/index'
import { notifyConnected } from '#operations/messaging/numbers/connected'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { ana, type ExchangeShop, exchangeShop } from './shopper.ts'
import { approve, confirm, type Requested, read, received, reject, requested } from './support.ts'

const app = await testApp()
const noon = '2026-11-20T12:00:00.000Z'
const hour = 3_600_000
const sandbox = getSandbox(app.services.adapters.messaging)
const emails = Object.fromEntries(events.map((event) => [event, { isEnabled: false }]))
const setColumns = (shop: ExchangeShop, table: 'messaging_connections' | 'subscriptions', set: object) =>
  app.database.root.updateTable(table).set(set).where('store_id', '=', shop.id).execute()

/** Causes for an approval notice to wait. */
const causes = {
  'an outage': async (shop: ExchangeShop) => {
    await sandbox.setMode(shop.id, 'down')
    await app.drainJobs()
    await sandbox.setMode(shop.id, 'up')
  },
  'a worker that was away': async () => {},
}

interface Change {
  change(shop: ExchangeShop, request: Requested): Promise<unknown>
  /** Failure code; null: it is sent. */
  is: string | null
}
const changes: Record<string, Change> = {
  nothing: { change: async () => undefined, is: null },
  'the items arrived': { change: (shop, { id }) => received(shop, id), is: null },
  'it was completed': { change: (shop, { id }) => confirm(shop, id), is: null },
  'it was rejected': { change: (shop, { id }) => reject(shop, id), is: 'moved-on' },
  'the shopper cancelled it': {
    change: async (shop, { statusUrl }) =>
      expect((await shop.follow(statusUrl, '/cancel', {})).status).toBe(200),
    is: 'moved-on',
  },
  'such notices were turned off': {
    change: (shop) => shop.settings({ messaging: { approved: { text: null } } }),
    is: 'turned-off',
  },
  'messages were turned off': {
    change: (shop) => shop.settings({ messaging: { isEnabled: false } }),
    is: 'turned-off',
  },
  'the shopper opted out': {
    change: async (shop) => optOuts.add(await shop.context(), ana.phone, 'manual'),
    is: 'recipient-stopped',
  },
  'the plan was lost': {
    change: (shop) => setColumns(shop, 'subscriptions', { status: 'paused', paused_at: app.clock.now() }),
    is: 'subscription-inactive',
  },
  'more than a day passed': { change: () => app.advance(25 * hour), is: 'too-late' },
}

async function approved(settings: Record<string, unknown>) {
  await app.setClock(noon)
  const shop = await exchangeShop(app, settings)
  await connectNumber(await shop.context(), { type: 'qr', phone: '+5511400020001' })
  const request = await requested(shop)
  await app.drainJobs()
  expect((await approve(shop, request.id)).status).toBe(200)
  return { shop, request }
}
async function listNotified(shop: ExchangeShop, id: string): Promise<string[]> {
  const { body } = await read(shop, id)
  return body.history
    .filter(({ event }: { event: string }) => event.startsWith('notif'))
    .map(({ note }: { note: string }) => note)
}

describe.each(Object.entries(causes))('a message that waited for %s', (_cause, begin) => {
  test.each(Object.entries(changes))('%s', async (_name, { change, is }) => {
    const { shop, request } = await approved({
      emails,
      messaging: { isEnabled: true, approved: { text: 'Oi {{firstName}}' } },
    })
    await begin(shop)
    expect(await listNotified(shop, request.id)).toEqual([])
    await change(shop, request)
    await app.advance(61_000)
    await app.drainJobs()
    expect(await listNotified(shop, request.id)).toEqual([
      `Message: approved${is === null ? '' : ` (${is})`}`,
    ])
    expect(await sandbox.outbox(shop.id)).toHaveLength(is === null ? 1 : 0)
    const usage = await app.database.root
      .selectFrom('usage_cycles')
      .select(['used', 'reserved'])
      .where('store_id', '=', shop.id)
      .executeTakeFirst()
    expect(usage ?? { used: 0, reserved: 0 }).toEqual({ used: is === null ? 1 : 0, reserved: 0 })
  })
})

test.each([
  ['connected again', 'Message: approved', 1],
  ['gone for a day', 'Message: approved (too-late)', 0],
])('while the number is disconnected it waits: %s', async (_name, note, sent) => {
  const { shop, request } = await approved({
    emails,
    messaging: { isEnabled: true, approved: { text: 'Oi {{firstName}}' } },
  })
  await setColumns(shop, 'messaging_connections', { status: 'disconnected' })
  await app.drainJobs()
  expect(await listNotified(shop, request.id)).toEqual([])
  if (sent === 1) {
    await setColumns(shop, 'messaging_connections', { status: 'connected' })
    const ctx = await shop.context()
    await ctx.transaction((tx) => notifyConnected(tx, 'qr'))
  } else await app.advance(25 * hour)
  await app.drainJobs()
  expect(await listNotified(shop, request.id)).toEqual([note])
  expect(await sandbox.outbox(shop.id)).toHaveLength(sent)
})

test.each([
  ['it was rejected', 'moved-on'],
  ['more than a day passed', 'too-late'],
])('an email, too: %s', async (name, is) => {
  const { shop, request } = await approved({ emails: { ...emails, approved: { isEnabled: true } } })
  await changes[name]!.change(shop, request)
  await app.drainJobs()
  expect(await listNotified(shop, request.id)).toEqual([`Email: approved (${is})`])
})

test('every event is still true in the expected statuses only', () => {
  const holds = Object.fromEntries(
    events.map((each) => [each, statuses.filter((at) => isStillTrue(each, at))]),
  )
  const goesOn = ['requested', 'approved', 'in-transit', 'received', 'completed']
  expect(holds).toEqual({
    requested: goesOn,
    approved: goesOn,
    addressChanged: ['approved'],
    received: goesOn,
    completed: goesOn,
    rejected: [...statuses],
    expired: [...statuses],
  })
})
