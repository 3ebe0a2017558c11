import { describe, expect, test } from 'vitest'
import cancelCampaign from '#operations/campaigns/campaigns/api/cancel-campaign'
import deleteCampaign from '#operations/campaigns/campaigns/api/delete-campaign'
import listMessages from '#operations/campaigns/campaigns/api/list-messages'
import pauseCampaign from '#operations/campaigns/campaigns/api/pause-campaign'
import resumeCampaign from '#operations/campaigns/campaigns/api/resume-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import { campaignMessages } from '#operations/campaigns/sending/outbox-source'
import { recordResults } from '#operations/campaigns/sending/record'
import type { DeliveryStatus } from '#operations/messaging/sending/deliver'
import { testApp } from '#test/support/app'
import { counted, makePhone, runUntil, type SendingShop, sendingShop } from '#test/support/campaigns'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00Z')

/** A sent campaign without further statuses from the sandbox. */
async function sent(contacts: number | { phone: string }[]) {
  const shop = await sendingShop(app)
  const id = await shop.draft(await shop.list(contacts))
  await shop.call(sendCampaign, { params: { id } })
  await app.drainJobs()
  await app.database.root
    .updateTable('sandbox_messages')
    .set({ next_event_at: null })
    .where('store_id', '=', shop.id)
    .execute()
  const { body } = await shop.call(listMessages, { params: { id } })
  return { shop, id, messages: body.data as { id: string; phone: string }[] }
}

type StatusUpdate = [status: DeliveryStatus['status'], seconds: number, change?: Partial<DeliveryStatus>]

async function sendStatuses(shop: SendingShop, messageId: string, updates: StatusUpdate[]): Promise<void> {
  const ctx = await shop.context()
  const statuses = updates.map(
    ([status, seconds, change]): DeliveryStatus => ({
      messageId,
      attempt: 1,
      status,
      at: new Date(app.clock.ms() + seconds * 1000),
      providerMessageId: 'wamid.x',
      failureCode: null,
      failureMessage: null,
      ...change,
    }),
  )
  await ctx.transaction((tx) => campaignMessages.applyStatuses(tx, statuses))
}
const at = (seconds: number) => new Date(app.clock.ms() + seconds * 1000).toISOString()

describe('provider statuses', () => {
  test.each<[string, StatusUpdate[][], Record<string, unknown>]>([
    ['in order', [[['delivered', 1]], [['read', 2]]], { status: 'read', deliveredAt: 1, readAt: 2 }],
    [
      'together and in reverse order',
      [
        [
          ['read', 2],
          ['delivered', 1],
          ['sent', 0],
        ],
      ],
      { status: 'read', deliveredAt: 1, readAt: 2 },
    ],
    ['read alone', [[['read', 2]]], { status: 'read', deliveredAt: 2, readAt: 2 }],
    [
      'delivered after read',
      [[['read', 2]], [['delivered', 3]]],
      { status: 'read', deliveredAt: 2, readAt: 2 },
    ],
    ['twice', [[['delivered', 1]], [['delivered', 9]]], { status: 'delivered', deliveredAt: 1 }],
    [
      'failed',
      [[['failed', 1, { failureCode: 'frequency-capped' }]]],
      { status: 'failed', failedAt: 1, failureCode: 'frequency-capped' },
    ],
    [
      'failed with its own reason',
      [[['failed', 1, { failureCode: 'window-closed' }]]],
      { status: 'failed', failedAt: 1, failureCode: 'window-closed' },
    ],
    [
      'failed after delivered',
      [[['delivered', 1]], [['failed', 2]]],
      { status: 'delivered', deliveredAt: 1 },
    ],
    [
      'delivered after failed',
      [[['failed', 1]], [['delivered', 2]]],
      { status: 'delivered', deliveredAt: 2 },
    ],
    ['for another attempt', [[['failed', 1, { attempt: 2 }]]], { status: 'sent' }],
    ['older than the send', [[['delivered', -5]]], { status: 'delivered', deliveredAt: 0 }],
  ])('%s', async (_name, calls, { status, failureCode = null, ...seconds }) => {
    const { shop, id, messages } = await sent(1)
    for (const updates of calls) await sendStatuses(shop, messages[0]!.id, updates)
    const { body } = await shop.call(listMessages, { params: { id } })
    const instant = (name: string) => (name in seconds ? at(seconds[name] as number) : null)
    expect(body.data[0]).toMatchObject({
      status,
      failureCode,
      sentAt: at(0),
      deliveredAt: instant('deliveredAt'),
      readAt: instant('readAt'),
      failedAt: instant('failedAt'),
    })
    const { optOuts: _optOuts, ...counters } = (await shop.read(id)).counters
    expect(counters).toEqual(await counted(app, id))
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('are applied to many messages of several campaigns at once', async () => {
    const first = await sent(3)
    const ctx = await first.shop.context()
    const id = await first.shop.draft(
      await first.shop.list([{ phone: makePhone(9) }, { phone: makePhone(10) }]),
    )
    await first.shop.call(sendCampaign, { params: { id } })
    await runUntil(app, async () => (await first.shop.read(id)).status === 'sent', 100)
    const others = (await first.shop.call(listMessages, { params: { id } })).body.data
    const statuses = [...first.messages, ...others].map(
      (message, i): DeliveryStatus => ({
        messageId: message.id,
        attempt: 1,
        status: i % 2 === 0 ? 'read' : 'failed',
        at: app.clock.now(),
        providerMessageId: `wamid.${i}`,
        failureCode: i === 1 ? 'recipient-stopped' : 'undelivered',
        failureMessage: 'No',
      }),
    )
    const strangers = [
      { ...statuses[0]!, messageId: ctx.newId() },
      { ...statuses[0]!, messageId: 'odd' },
    ]
    await ctx.transaction((tx) => campaignMessages.applyStatuses(tx, [...statuses, ...strangers]))
    expect((await first.shop.read(first.id)).counters).toMatchObject({ sent: 2, read: 2, failed: 1 })
    expect((await first.shop.read(id)).counters).toMatchObject({ sent: 1, read: 1, failed: 1 })
    const { body } = await first.shop.call(listOptOuts, { query: { source: 'provider' } })
    expect(body.data).toMatchObject([{ phone: first.messages[1]!.phone, campaignId: first.id }])
  })
})

describe('side effects of statuses', () => {
  test('a status that precedes the recorded result leaves it only the text to record', async () => {
    const { shop, id, messages } = await sent(1)
    const ctx = await shop.context()
    await ctx.db.updateTable('campaign_messages').set({ text: null }).execute()
    await sendStatuses(shop, messages[0]!.id, [['delivered', 1]])
    const outcome = { kind: 'failed', code: 'undelivered', reason: 'No' } as const
    await recordResults(ctx, ctx.newId(), [{ id: messages[0]!.id, outcome, text: 'Oi' }])
    const { body } = await shop.call(listMessages, { params: { id } })
    expect(body.data).toMatchObject([{ status: 'delivered', text: 'Oi', failureCode: null }])
    expect((await shop.read(id)).counters).toMatchObject({ sent: 1, delivered: 1, failed: 0 })
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('failures count towards the failure rate, except unknown phones, and are taken back (rule 3h)', async () => {
    const { shop, id, messages } = await sent(2)
    const { db } = await shop.context()
    const since = () =>
      db
        .selectFrom('campaigns')
        .select(['attempted_since_start as attempted', 'failed_since_start as failed'])
        .where('id', '=', id)
        .executeTakeFirst()
    await sendStatuses(shop, messages[0]!.id, [['failed', 1, { failureCode: 'not-on-network' }]])
    expect(await since()).toEqual({ attempted: 2, failed: 0 })
    await sendStatuses(shop, messages[1]!.id, [['failed', 1]])
    expect(await since()).toEqual({ attempted: 2, failed: 1 })
    await sendStatuses(shop, messages[1]!.id, [['delivered', 2]])
    expect(await since()).toEqual({ attempted: 2, failed: 0 })
  })
})

describe('before the snapshot a campaign', () => {
  test('that is cancelled, or paused and deleted, sends nothing and releases its quota', async () => {
    const shop = await sendingShop(app)
    const make = async () => {
      const id = await shop.draft(await shop.list(2))
      await shop.call(sendCampaign, { params: { id } })
      return id
    }
    const [cancelled, paused, resumed] = [await make(), await make(), await make()]
    expect(await shop.usage()).toEqual({ used: 0, reserved: 6 })
    await shop.call(cancelCampaign, { params: { id: cancelled } })
    await shop.call(pauseCampaign, { params: { id: paused } })
    await shop.call(pauseCampaign, { params: { id: resumed } })
    expect((await shop.call(deleteCampaign, { params: { id: paused } })).status).toBe(204)
    expect(await shop.usage()).toEqual({ used: 0, reserved: 2 })
    await app.drainJobs()
    expect((await shop.outbox()).size).toBe(0)
    expect((await shop.call(resumeCampaign, { params: { id: resumed } })).status).toBe(202)
    await app.drainJobs()
    expect(await shop.read(resumed)).toMatchObject({ status: 'sent', counters: { total: 2, sent: 2 } })
    expect(await shop.usage()).toEqual({ used: 2, reserved: 0 })
  })
})
