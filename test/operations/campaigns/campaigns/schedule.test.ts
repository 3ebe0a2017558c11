import { describe, expect, test } from 'vitest'
import deleteCampaign from '#operations/campaigns/campaigns/api/delete-campaign'
import scheduleCampaign from '#operations/campaigns/campaigns/api/schedule-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import updateCampaign from '#operations/campaigns/campaigns/api/update-campaign'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import { hourMs, minuteMs } from '#runtime/durations'
import { Worker } from '#runtime/jobs/worker'
import { testApp } from '#test/support/app'
import { runUntil, type SendingShop, sendingShop } from '#test/support/campaigns'
import { readNotices as notices } from '#test/support/imports'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00Z')

const schedule = (shop: SendingShop, id: string, scheduledAt: string) =>
  shop.call(scheduleCampaign, { params: { id }, body: { scheduledAt } })
const inOneHour = () => new Date(app.clock.ms() + hourMs).toISOString()

describe('POST /campaigns/:id/schedule', () => {
  test('uses the store wall clock, and can be rescheduled', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(1))
    const first = await schedule(shop, id, '2026-12-01T10:00')
    expect([first.status, first.body]).toMatchObject([
      200,
      { status: 'scheduled', scheduledAt: '2026-12-01T13:00:00.000Z' },
    ])
    const moved = await schedule(shop, id, '2026-12-01T10:00:00-05:00')
    expect(moved.body.scheduledAt).toBe('2026-12-01T15:00:00.000Z')
  })

  test('a change makes a scheduled campaign a draft, which is not sent; the same body changes nothing', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(1))
    const { body } = await schedule(shop, id, inOneHour())
    const same = await shop.call(updateCampaign, { params: { id }, body })
    expect([same.status, same.body]).toMatchObject([
      200,
      { status: 'scheduled', scheduledAt: body.scheduledAt },
    ])
    const changed = await shop.call(updateCampaign, { params: { id }, body: { name: 'Without the typo' } })
    expect([changed.status, changed.body]).toMatchObject([
      200,
      { status: 'draft', scheduledAt: null, name: 'Without the typo' },
    ])
    await app.advance(2 * hourMs)
    await app.drainJobs()
    expect((await shop.read(id)).status).toBe('draft')
  })

  test('a failed campaign whose list is gone takes another list, as its refusal advises, and is sent', async () => {
    const shop = await sendingShop(app)
    const listId = await shop.list(1)
    const id = await shop.draft(listId)
    await schedule(shop, id, inOneHour())
    await app.advance(5 * hourMs)
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: 'missed-schedule' })
    await shop.call(deleteList, { params: { id: listId } })
    const refused = await shop.call(sendCampaign, { params: { id } })
    expect([refused.status, refused.body.error?.message]).toEqual([
      409,
      'listId: the contact list of the campaign was deleted: choose another one first',
    ])
    const saved = await shop.call(updateCampaign, { params: { id }, body: { listId: await shop.list(1) } })
    expect(saved.body).toMatchObject({ status: 'draft', failureReason: null, completedAt: null })
    expect((await shop.call(sendCampaign, { params: { id } })).status).toBe(202)
    await app.drainJobs()
    expect((await shop.read(id)).status).toBe('sent')
    const late = await shop.call(updateCampaign, { params: { id }, body: { name: 'x' } })
    expect([late.status, late.body.error?.message]).toEqual([
      409,
      'The campaign is sent: only a draft, scheduled or failed one can be changed. Duplicate it instead',
    ])
  })

  test('a time that the clocks of the store skip is refused', async () => {
    const shop = await sendingShop(app, { timezone: 'America/New_York' })
    const answer = await schedule(shop, await shop.draft(await shop.list(1)), '2027-03-14T02:30')
    expect([answer.status, answer.body.error.message]).toEqual([
      400,
      expect.stringMatching(/^scheduledAt: .*no such time/),
    ])
  })
})

describe('a due campaign', () => {
  test('is sent once by two workers', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(30))
    await schedule(shop, id, new Date(app.clock.ms() + 2 * hourMs).toISOString())
    await schedule(shop, id, inOneHour())
    await app.drainJobs()
    expect((await shop.read(id)).status).toBe('scheduled')
    await app.advance(hourMs)
    const second = new Worker(app.services, app.registry.jobs, app.metrics)
    await Promise.all([app.worker.drain(), second.drain()])
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({
      status: 'sent',
      scheduledAt: null,
      counters: { total: 30, pending: 0 },
    })
    await app.advance(hourMs)
    await app.drainJobs()
    expect([...(await shop.outbox()).values()].map(({ calls }) => calls)).toEqual(Array(30).fill(1))
  })

  test('is not sent more than three hours late', async () => {
    const shop = await sendingShop(app)
    const late = await shop.draft(await shop.list(2))
    const gone = await shop.draft(await shop.list(2))
    const justInTime = await shop.draft(await shop.list(2))
    await schedule(shop, late, inOneHour())
    await schedule(shop, gone, inOneHour())
    await schedule(shop, justInTime, new Date(app.clock.ms() + 2 * hourMs).toISOString())
    expect((await shop.call(deleteCampaign, { params: { id: gone } })).status).toBe(204)
    await app.advance(5 * hourMs)
    await app.drainJobs()
    expect(await shop.read(late)).toMatchObject({
      status: 'failed',
      failureReason: 'missed-schedule',
      startedAt: null,
      counters: { total: 0 },
      completedAt: expect.any(String),
    })
    expect(await shop.read(justInTime)).toMatchObject({ status: 'sent', counters: { sent: 2 } })
    expect((await shop.outbox()).size).toBe(2)
    expect(await notices(shop)).toMatchObject([
      { type: 'campaign-failed', data: { campaignId: late, failureReason: 'missed-schedule' } },
      { type: 'campaign-sent', data: { campaignId: justInTime } },
    ])
    expect((await shop.call(sendCampaign, { params: { id: late } })).status).toBe(202)
  })

  test('fails without enough quota, and can be sent after an upgrade', async () => {
    const shop = await sendingShop(app)
    await shop.setQuota(3)
    const id = await shop.draft(await shop.list(5))
    await schedule(shop, id, inOneHour())
    await app.advance(hourMs)
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: 'quota-exceeded' })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
    expect(await notices(shop)).toMatchObject([{ type: 'campaign-failed' }])
    await shop.setQuota(10)
    expect((await shop.call(sendCampaign, { params: { id } })).status).toBe(202)
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'sent', failureReason: null, counters: { sent: 5 } })
  })

  test.each([
    ['connection-lost', { table: 'messaging_connections', set: { status: 'error' } }],
    [
      'subscription-inactive',
      { table: 'subscriptions', set: { status: 'paused', paused_at: new Date('2026-11-20') } },
    ],
    ['empty-audience', { table: 'contact_lists', set: { size: 0 } }],
  ] as const)('it fails: %s', async (reason, { table, set }) => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(1))
    await schedule(shop, id, inOneHour())
    await app.database.root
      .updateTable(table)
      .set(set as never)
      .where('store_id', '=', shop.id)
      .execute()
    await app.advance(hourMs)
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: reason })
  })

  test('waits for an import of its list, at most an hour', async () => {
    const shop = await sendingShop(app)
    const ctx = await shop.context()
    const make = async () => {
      const listId = await shop.list(1)
      const id = await shop.draft(listId)
      await schedule(shop, id, inOneHour())
      const at = { created_at: ctx.now(), updated_at: ctx.now() }
      const importId = ctx.newId()
      await ctx.db
        .insertInto('list_imports')
        .values({ id: importId, list_id: listId, kind: 'csv', status: 'running', ...at })
        .execute()
      return { id, importId }
    }
    const [patient, hopeless] = [await make(), await make()]
    await app.advance(hourMs)
    await app.drainJobs()
    expect([(await shop.read(patient.id)).status, (await shop.read(hopeless.id)).status]).toEqual([
      'scheduled',
      'scheduled',
    ])
    await ctx.db
      .updateTable('list_imports')
      .set({ status: 'completed' })
      .where('id', '=', patient.importId)
      .execute()
    await runUntil(app, async () => (await shop.read(patient.id)).status === 'sent', 30_000, 4)
    await runUntil(app, async () => (await shop.read(hopeless.id)).status === 'failed', 10 * minuteMs, 8)
    expect((await shop.read(hopeless.id)).failureReason).toBe('list-busy')
    // The jobs that the watchdog queued as well find nothing to do and queue nothing.
    const waiting = (): Promise<unknown[]> =>
      app.database.query(
        `select id from pgboss.job where data->>'job' = 'campaign-start' and state < 'active' and data->>'storeId' = $1`,
        [shop.id],
      )
    // Jobs of one campaign that are fetched at once run one after another, a second apart.
    await runUntil(app, async () => (await waiting()).length === 0, minuteMs, 8)
  })

  test('is started by the watchdog if its job is lost', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(1))
    await schedule(shop, id, inOneHour())
    await app.database.query(
      `delete from pgboss.job where data->>'job' = 'campaign-start' and data->>'storeId' = $1`,
      [shop.id],
    )
    await app.advance(hourMs + minuteMs)
    await app.drainJobs()
    expect((await shop.read(id)).status).toBe('sent')
  })
})
