import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import cancelCampaign from '#operations/campaigns/campaigns/api/cancel-campaign'
import deleteCampaign from '#operations/campaigns/campaigns/api/delete-campaign'
import listMessages from '#operations/campaigns/campaigns/api/list-messages'
import pauseCampaign from '#operations/campaigns/campaigns/api/pause-campaign'
import resumeCampaign from '#operations/campaigns/campaigns/api/resume-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { minuteMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { counted, runUntil, type SendingShop, sendingShop } from '#test/support/campaigns'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00Z')

/** Checks at every read that the counters add up and agree with the messages. */
async function readExactly(shop: SendingShop, id: string) {
  const campaign = await shop.read(id)
  const { optOuts: _optOuts, ...counters } = campaign.counters
  const { total, pending, sent, failed, skipped, cancelled } = counters
  expect(pending + sent + failed + skipped + cancelled).toBe(total)
  expect(counters).toEqual(await counted(app, id))
  return campaign
}

async function once(shop: SendingShop, phones: number): Promise<void> {
  const outbox = [...(await shop.outbox()).values()]
  expect(outbox.length).toBe(phones)
  expect(outbox.filter(({ keys }) => keys.length !== 1)).toEqual([])
}

const many = isFullSuite ? 5000 : 1000

describe('many contacts', () => {
  test('a resumed campaign skips contacts that opted out meanwhile', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(many))
    await shop.call(sendCampaign, { params: { id } })
    await runUntil(app, async () => (await readExactly(shop, id)).counters.sent >= 500)
    const sending = await shop.read(id)
    expect(sending).toMatchObject({ status: 'sending', nextBatchAt: expect.any(String) })
    expect(Date.parse(sending.estimatedFinishAt)).toBeGreaterThan(app.clock.ms())
    const paused = await shop.call(pauseCampaign, { params: { id } })
    expect([paused.status, paused.body]).toMatchObject([
      200,
      { status: 'paused', pauseReason: 'manual', nextBatchAt: null },
    ])
    await app.drainJobs()
    await app.advance(3000)
    await app.drainJobs()
    const { sent } = (await readExactly(shop, id)).counters
    await app.advance(3000)
    await app.drainJobs()
    expect((await readExactly(shop, id)).counters.sent).toBe(sent)

    const query = { status: 'pending', limit: 1, page: 3 }
    const [message] = (await shop.call(listMessages, { params: { id }, query })).body.data
    expect((await shop.call(addOptOut, { body: { phone: message.phone } })).status).toBe(201)
    const resumed = await shop.call(resumeCampaign, { params: { id } })
    expect([resumed.status, resumed.body]).toMatchObject([
      202,
      { campaign: { status: 'sending', pauseReason: null } },
    ])
    await runUntil(app, async () => (await readExactly(shop, id)).status === 'sent')
    await runUntil(app, async () => (await readExactly(shop, id)).counters.read === many - 1)
    expect((await shop.read(id)).counters).toMatchObject({ total: many, sent: many - 1, skipped: 1 })
    const { body } = await shop.call(listMessages, { params: { id }, query: { status: 'skipped' } })
    expect(body.data).toMatchObject([{ id: message.id, skipReason: 'opted-out' }])
    await once(shop, many - 1)
    expect(await shop.usage()).toEqual({ used: many - 1, reserved: 0 })
  })

  test('a cancelled campaign sends nothing more', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(many))
    await shop.call(sendCampaign, { params: { id } })
    await runUntil(app, async () => (await shop.read(id)).counters.sent >= 500)
    expect((await shop.call(deleteCampaign, { params: { id } })).status).toBe(409)
    const cancelled = await shop.call(cancelCampaign, { params: { id } })
    expect([cancelled.status, cancelled.body.counters.pending]).toEqual([200, 0])
    for (const operation of [resumeCampaign, pauseCampaign, cancelCampaign, sendCampaign]) {
      expect((await shop.call(operation, { params: { id } })).status).toBe(409)
    }
    await app.advance(5000)
    await app.drainJobs()
    const { counters } = await readExactly(shop, id)
    expect(counters.cancelled).toBe(many - counters.sent)
    expect(await shop.usage()).toEqual({ used: counters.sent, reserved: 0 })
    await once(shop, counters.sent)
    expect((await shop.call(deleteCampaign, { params: { id } })).status).toBe(204)
    await app.drainJobs()
    expect(await counted(app, id)).toMatchObject({ total: 0 })
    expect(await shop.usage()).toEqual({ used: counters.sent, reserved: 0 })
  })
})

/** Blocks recording of results, as if the worker had died between the call and the record. */
async function whileRecordsFail(work: () => Promise<void>): Promise<void> {
  await app.database.script(
    `alter table campaign_messages add constraint dies check (status <> 'sent') not valid`,
  )
  try {
    await work()
  } finally {
    await app.database.script('alter table campaign_messages drop constraint dies')
  }
}

describe('after a worker died', () => {
  test.runIf(isFullSuite)(
    'between calls and recording, nobody gets a message twice and none is lost',
    async () => {
      const shop = await sendingShop(app)
      const id = await shop.draft(await shop.list(1200))
      await shop.call(sendCampaign, { params: { id } })
      await app.drainJobs()
      expect((await readExactly(shop, id)).counters.sent).toBe(500)
      // No status arrives to prove the dead worker's messages.
      const silence = () => sql`update sandbox_messages set next_event_at = null`.execute(app.database.root)
      await whileRecordsFail(async () => {
        await app.advance(1500)
        await app.drainJobs({ allowFailures: true })
      })
      await silence()
      expect((await readExactly(shop, id)).counters).toMatchObject({ sent: 500, pending: 700 })
      expect((await shop.outbox()).size).toBe(1000)
      await app.advance(30_000)
      await app.drainJobs()
      expect((await readExactly(shop, id)).counters).toMatchObject({ sent: 700, pending: 500 })
      await runUntil(app, async () => (await readExactly(shop, id)).status === 'sent', 10_000, 30)
      expect(await counted(app, id)).toMatchObject({ total: 1200, sent: 1200, pending: 0 })
      await once(shop, 1200)
      expect([...(await shop.outbox()).values()].filter(({ calls }) => calls === 2).length).toBe(500)
      expect(await shop.usage()).toEqual({ used: 1200, reserved: 0 })
    },
    60_000,
  )

  test('a status proves which messages were sent', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(5))
    await shop.call(sendCampaign, { params: { id } })
    await whileRecordsFail(() => app.drainJobs({ allowFailures: true }))
    expect((await readExactly(shop, id)).counters).toMatchObject({ pending: 5, sent: 0 })
    await runUntil(app, async () => (await readExactly(shop, id)).counters.read === 5)
    expect(await shop.usage()).toEqual({ used: 5, reserved: 0 })
    await runUntil(app, async () => (await shop.read(id)).status === 'sent', 30_000, 10)
    expect([...(await shop.outbox()).values()].map(({ calls }) => calls)).toEqual([1, 1, 1, 1, 1])
    const touches = await app.database.root
      .selectFrom('attribution_touches')
      .select('message_id')
      .where('source_id', '=', id)
      .execute()
    expect(touches.length).toBe(5)
  })

  test('messages of a cancelled campaign are indeterminate after ten minutes', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(5))
    await shop.call(sendCampaign, { params: { id } })
    await whileRecordsFail(() => app.drainJobs({ allowFailures: true }))
    await sql`update sandbox_messages set next_event_at = null`.execute(app.database.root)
    expect((await shop.call(cancelCampaign, { params: { id } })).body.counters).toMatchObject({ pending: 5 })
    await app.advance(5 * minuteMs)
    await app.drainJobs()
    expect((await readExactly(shop, id)).counters).toMatchObject({ pending: 5 })
    await app.advance(6 * minuteMs)
    await app.drainJobs()
    expect((await readExactly(shop, id)).counters).toMatchObject({ pending: 0, failed: 5 })
    const { body } = await shop.call(listMessages, { params: { id }, query: { limit: 1 } })
    expect(body.data).toMatchObject([{ failureCode: 'unknown-outcome', attempts: 1 }])
    expect(await shop.usage()).toEqual({ used: 5, reserved: 0 })
    await once(shop, 5)
  })
})

describe('the send window', () => {
  test('nothing is sent outside of it', async () => {
    const shop = await sendingShop(app)
    const sendWindow = { start: '07:00', end: '08:00' }
    const id = await shop.draft(await shop.list(3), { sendWindow })
    await shop.call(sendCampaign, { params: { id } })
    await app.drainJobs()
    const opening = '2026-11-21T10:00:00.000Z'
    expect(await readExactly(shop, id)).toMatchObject({
      status: 'sending',
      nextBatchAt: opening,
      counters: { total: 3, pending: 3, sent: 0 },
    })
    await app.advance(Date.parse(opening) - app.clock.ms() - minuteMs)
    await app.drainJobs()
    expect((await shop.outbox()).size).toBe(0)
    await app.advance(minuteMs)
    await app.drainJobs()
    expect(await readExactly(shop, id)).toMatchObject({
      status: 'sent',
      nextBatchAt: null,
      counters: { sent: 3 },
    })
  })
})
