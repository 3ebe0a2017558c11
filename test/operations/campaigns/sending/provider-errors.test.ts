import { describe, expect, test } from 'vitest'
import cancelCampaign from '#operations/campaigns/campaigns/api/cancel-campaign'
import listMessages from '#operations/campaigns/campaigns/api/list-messages'
import pauseCampaign from '#operations/campaigns/campaigns/api/pause-campaign'
import resumeCampaign from '#operations/campaigns/campaigns/api/resume-campaign'
import retryMessage from '#operations/campaigns/campaigns/api/retry-message'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import { receiveHook } from '#operations/messaging/callbacks/receive'
import { getSandbox, type SandboxMode } from '#operations/messaging/provider/sandbox'
import { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { NumberLimit } from '#runtime/ports/errors'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { counted, makePhone, runUntil, type SendingShop, sendingShop } from '#test/support/campaigns'
import { isFullSuite } from '#test/support/suite'

/** One message every 10 seconds: batches are of one, and 12.5 seconds apart (80 %). */
const app = await testApp({ sandboxMessagesPerSecond: 0.1 })
const betweenMs = 12_500
await app.setClock('2026-11-20T12:00:00Z')
const sandbox = getSandbox(app.services.adapters.messaging)
const setMode = (shop: SendingShop, mode: SandboxMode) => sandbox.setMode(shop.id, mode)

async function begun(contacts: number, options: Parameters<typeof sendingShop>[1] = {}) {
  const shop = await sendingShop(app, options)
  const id = await shop.draft(await shop.list(contacts))
  await shop.call(sendCampaign, { params: { id } })
  return { shop, id }
}
const step = async (milliseconds: number) => {
  await app.advance(milliseconds)
  await app.drainJobs()
}
async function countersOf(shop: SendingShop, id: string) {
  const { optOuts: _optOuts, ...counters } = (await shop.read(id)).counters
  expect(counters).toEqual(await counted(app, id))
  return counters
}
const touchesOf = (id: string) =>
  app.database.root.selectFrom('attribution_touches').select('id').where('source_id', '=', id).execute()
const setColumns = (shop: SendingShop, table: 'messaging_connections' | 'subscriptions', set: object) =>
  app.database.root.updateTable(table).set(set).where('store_id', '=', shop.id).execute()

describe('the send rate', () => {
  test('the finish is estimated at once, also after a pause', async () => {
    const { shop, id } = await begun(5)
    const inAll = (messages: number) => new Date(app.clock.ms() + messages * betweenMs).toISOString()
    expect(await shop.read(id)).toMatchObject({ estimatedFinishAt: inAll(5) })
    await app.drainJobs()
    await shop.call(pauseCampaign, { params: { id } })
    expect(await shop.read(id)).toMatchObject({ status: 'paused', estimatedFinishAt: null })
    await app.advance(minuteMs)
    const resumed = await shop.call(resumeCampaign, { params: { id } })
    expect(resumed.body.campaign).toMatchObject({ status: 'sending', estimatedFinishAt: inAll(4) })
  })

  test('a campaign uses eighty percent of the rate of its number', async () => {
    const { shop, id } = await begun(5)
    await app.drainJobs()
    expect(await countersOf(shop, id)).toMatchObject({ sent: 1, pending: 4 })
    expect(await shop.read(id)).toMatchObject({
      nextBatchAt: new Date(app.clock.ms() + betweenMs).toISOString(),
      estimatedFinishAt: new Date(app.clock.ms() + betweenMs + 4 * betweenMs).toISOString(),
    })
    await step(betweenMs)
    expect(await countersOf(shop, id)).toMatchObject({ sent: 2, pending: 3 })
    // Cancelled after 2 of 5: usage grows by 2.
    await shop.call(cancelCampaign, { params: { id } })
    await step(10 * betweenMs)
    expect(await countersOf(shop, id)).toMatchObject({ sent: 2, cancelled: 3, pending: 0 })
    expect(await shop.usage()).toEqual({ used: 2, reserved: 0 })
  })

  test('two campaigns on one number alternate', async () => {
    const { shop, id } = await begun(2)
    const other = await shop.draft(await shop.list([{ phone: makePhone(900) }]))
    await shop.call(sendCampaign, { params: { id: other } })
    await app.drainJobs()
    expect((await shop.outbox()).size).toBe(1)
    await step(betweenMs)
    expect((await shop.outbox()).size).toBe(2)
    await step(betweenMs)
    expect([(await shop.read(id)).status, (await shop.read(other)).status]).toEqual(['sent', 'sent'])
  })
})

describe('provider errors', () => {
  test('a throttled batch is requeued and waits as requested', async () => {
    const { shop, id } = await begun(2)
    await setMode(shop, 'throttle')
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({
      status: 'sending',
      nextBatchAt: new Date(app.clock.ms() + 2000).toISOString(),
    })
    expect(await countersOf(shop, id)).toMatchObject({ pending: 2 })
    await setMode(shop, 'up')
    await runUntil(app, async () => (await shop.read(id)).status === 'sent', betweenMs, 6)
    const { body } = await shop.call(listMessages, { params: { id }, query: { limit: 1 } })
    expect(body.data[0].attempts).toBe(1)
    expect(await shop.usage()).toEqual({ used: 2, reserved: 0 })
  })

  test('an unavailable provider is retried with backoff, and pauses the campaign after 30 minutes', async () => {
    const { shop, id } = await begun(3)
    await setMode(shop, 'down')
    const waits: number[] = []
    for (;;) {
      await app.drainJobs()
      const { status, nextBatchAt } = await shop.read(id)
      if (status !== 'sending') break
      waits.push((Date.parse(nextBatchAt) - app.clock.ms()) / 1000)
      await app.advance(Date.parse(nextBatchAt) - app.clock.ms())
    }
    expect(waits).toEqual([15, 30, 60, 120, 240, 300, 300, 300, 300, 300])
    expect(await shop.read(id)).toMatchObject({ status: 'paused', pauseReason: 'provider-unavailable' })
    expect(await countersOf(shop, id)).toMatchObject({ pending: 3 })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 3 })
    await setMode(shop, 'up')
    await step(60 * minuteMs)
    expect((await shop.read(id)).status).toBe('paused')
    expect((await shop.call(resumeCampaign, { params: { id } })).status).toBe(202)
    await runUntil(app, async () => (await shop.read(id)).status === 'sent', betweenMs, 5)
    expect((await shop.read(id)).counters).toMatchObject({ sent: 3 })
  })

  test('a message with a lost answer is resent under its key, or proved by its status', async () => {
    const { shop, id } = await begun(3)
    await setMode(shop, 'timeout')
    await app.drainJobs()
    expect(await countersOf(shop, id)).toMatchObject({ pending: 3 })
    await setMode(shop, 'up')
    await runUntil(app, async () => (await shop.read(id)).status === 'sent', betweenMs, 40)
    expect((await shop.outbox()).size).toBe(3)
    expect(await countersOf(shop, id)).toMatchObject({ sent: 3 })
    expect(await shop.usage()).toEqual({ used: 3, reserved: 0 })
  })

  test("the number's daily limit pauses the campaign", async () => {
    const { shop, id } = await begun(2)
    await app.drainJobs()
    const { sendText } = sandbox
    sandbox.sendText = () => Promise.reject(new NumberLimit())
    await step(betweenMs)
    sandbox.sendText = sendText
    expect(await shop.read(id)).toMatchObject({
      status: 'paused',
      pauseReason: 'number-limit',
      counters: { sent: 1, pending: 1 },
    })
  })

  test('more than 30 percent failures of 200 pause the campaign', async () => {
    const { shop, id } = await begun(2)
    await app.database.root
      .updateTable('campaigns')
      .set({ attempted_since_start: 199, failed_since_start: 61 })
      .where('id', '=', id)
      .execute()
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'paused', pauseReason: 'high-failure-rate' })
    const [notice] = await app.database.root
      .selectFrom('notifications')
      .select(['type', 'level', 'message'])
      .where('store_id', '=', shop.id)
      .execute()
    expect(notice).toMatchObject({ type: 'campaign-paused', level: 'warning' })
  })
})

describe('a precondition that no longer holds', () => {
  const reasons = [
    [
      'connection-lost',
      (shop: SendingShop) => setColumns(shop, 'messaging_connections', { status: 'error' }),
    ],
    [
      'subscription-inactive',
      (shop: SendingShop) =>
        setColumns(shop, 'subscriptions', { status: 'paused', paused_at: app.clock.now() }),
    ],
  ] as const

  test.each(reasons)('fails the campaign before the first attempt: %s', async (reason, cause) => {
    const { shop, id } = await begun(3)
    await cause(shop)
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({
      status: 'failed',
      failureReason: reason,
      pauseReason: null,
      counters: { total: 0 },
      completedAt: expect.any(String),
    })
    expect(await counted(app, id)).toMatchObject({ total: 0 })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
  })

  test.each(reasons)('pauses the campaign after the first attempt: %s', async (reason, cause) => {
    const { shop, id } = await begun(2)
    await app.drainJobs()
    await cause(shop)
    await step(betweenMs)
    expect(await shop.read(id)).toMatchObject({
      status: 'paused',
      pauseReason: reason,
      counters: { sent: 1, pending: 1 },
    })
    expect(await shop.usage()).toEqual({ used: 1, reserved: 1 })
  })

  test('includes a template that is no longer approved', async () => {
    const shop = await sendingShop(app, { connection: 'official' })
    const ctx = await shop.context()
    const officialapiTemplateId = await makeTemplate(ctx, { name: 'hello', body: 'Hi all' })
    const content = { type: 'template', officialapiTemplateId }
    const id = await shop.draft(await shop.list(2), { content })
    await shop.call(sendCampaign, { params: { id } })
    await app.drainJobs()
    await ctx.db.updateTable('message_templates').set({ status: 'paused' }).execute()
    await step(betweenMs)
    expect(await shop.read(id)).toMatchObject({ status: 'paused', pauseReason: 'template-unavailable' })
    expect((await shop.call(resumeCampaign, { params: { id } })).status).toBe(409)
    await ctx.db.updateTable('message_templates').set({ status: 'approved' }).execute()
    expect((await shop.call(resumeCampaign, { params: { id } })).status).toBe(202)
    await step(betweenMs)
    expect((await shop.read(id)).status).toBe('sent')
  })

  test('includes an audience that opted out meanwhile: the campaign fails', async () => {
    const { shop, id } = await begun(1)
    const ctx = await shop.context()
    const phone = makePhone(0)
    const at = { created_at: ctx.now(), updated_at: ctx.now() }
    await ctx.db
      .insertInto('opt_outs')
      .values({ id: ctx.newId(), phone, phone_key: phone, source: 'manual', ...at })
      .execute()
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: 'empty-audience' })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
  })

  test('includes a list that outgrew the quota meanwhile: the campaign fails', async () => {
    const shop = await sendingShop(app)
    await shop.setQuota(3)
    const listId = await shop.list(3)
    const id = await shop.draft(listId)
    await shop.call(sendCampaign, { params: { id } })
    const more = await shop.list([{ phone: makePhone(7) }])
    await app.database.root
      .updateTable('list_contacts')
      .set({ list_id: listId })
      .where('list_id', '=', more)
      .execute()
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'failed', failureReason: 'quota-exceeded' })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
  })
})

describe('a provider without deduplication by key', () => {
  const strange = async (work: () => Promise<void>) => {
    Object.assign(sandbox.capabilities, { idempotentSend: false })
    try {
      await work()
    } finally {
      Object.assign(sandbox.capabilities, { idempotentSend: true })
    }
  }

  test('a lost answer is proved by its status', () =>
    strange(async () => {
      const { shop, id } = await begun(1)
      await setMode(shop, 'timeout')
      await app.drainJobs()
      expect(await countersOf(shop, id)).toMatchObject({ pending: 1 })
      await runUntil(app, async () => (await shop.read(id)).status === 'sent', 5000, 30)
      expect(await countersOf(shop, id)).toMatchObject({ sent: 1, read: 1 })
      expect([...(await shop.outbox()).values()].map(({ calls }) => calls)).toEqual([1])
      const { body } = await shop.call(listMessages, { params: { id } })
      expect(body.data).toMatchObject([{ status: 'read', attempts: 1, sentAt: expect.any(String) }])
      expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
      expect((await touchesOf(id)).length).toBe(1)
    }))

  test('without a status the message is indeterminate after ten minutes, and is not resent', () =>
    strange(async () => {
      const { shop, id } = await begun(2)
      await setMode(shop, 'timeout')
      await app.drainJobs()
      await setMode(shop, 'up')
      const [unheard] = (await shop.outbox()).keys()
      await app.database.root
        .updateTable('sandbox_messages')
        .set({ next_event_at: null })
        .where('store_id', '=', shop.id)
        .execute()
      await runUntil(app, async () => (await shop.read(id)).counters.sent === 1, 5000, 30)
      expect((await shop.read(id)).status).toBe('sending')
      await runUntil(app, async () => (await shop.read(id)).status === 'sent', minuteMs, 15)
      expect(await countersOf(shop, id)).toMatchObject({ sent: 1, failed: 1 })
      const { body } = await shop.call(listMessages, { params: { id }, query: { status: 'failed' } })
      expect(body.data).toMatchObject([{ phone: unheard, failureCode: 'unknown-outcome', attempts: 1 }])
      expect([...(await shop.outbox()).values()].map(({ calls }) => calls)).toEqual([1, 1])
      expect(await shop.usage()).toEqual({ used: 2, reserved: 0 })
      expect((await touchesOf(id)).length).toBe(1)
      // A late status: it was delivered after all.
      const { providerMessageId } = (await sandbox.outbox(shop.id, unheard))[0]!
      const hook = await sandbox.status(shop.id, { providerMessageId, status: 'delivered' })
      const system = new SystemContext(app.services, app.services.log, 'test')
      await receiveHook(system, 'sandbox', hook!.headers, hook!.body)
      await app.drainJobs()
      expect(await countersOf(shop, id)).toMatchObject({ sent: 2, failed: 0 })
      expect(await shop.usage()).toEqual({ used: 2, reserved: 0 })
      expect((await touchesOf(id)).length).toBe(2)
    }))

  test('a claim that was never called is requeued', () =>
    strange(async () => {
      const { shop, id } = await begun(1)
      await app.database.script(
        'alter table campaign_messages add constraint dies check (called_at is null) not valid',
      )
      await app.drainJobs({ allowFailures: true })
      await app.database.script('alter table campaign_messages drop constraint dies')
      expect((await shop.outbox()).size).toBe(0)
      expect(await countersOf(shop, id)).toMatchObject({ pending: 1 })
      await runUntil(app, async () => (await shop.read(id)).status === 'sent', 30_000, 10)
      const { body } = await shop.call(listMessages, { params: { id } })
      expect(body.data).toMatchObject([{ attempts: 1 }])
    }))
})

describe('a retry', () => {
  test.runIf(isFullSuite)('is retried for half an hour while the provider is down, then failed', async () => {
    const shop = await sendingShop(app)
    const phone = '+5511950000001'
    const id = await shop.draft(await shop.list([{ phone }]))
    await shop.call(sendCampaign, { params: { id } })
    await app.drainJobs()
    const [message] = (await shop.call(listMessages, { params: { id } })).body.data
    await setMode(shop, 'down')
    expect((await shop.call(retryMessage, { params: { id, messageId: message.id } })).status).toBe(202)
    await step(betweenMs)
    expect(await countersOf(shop, id)).toMatchObject({ pending: 1, failed: 0 })
    expect((await shop.read(id)).status).toBe('sent')
    await runUntil(app, async () => (await shop.read(id)).counters.failed === 1, minuteMs, 40)
    const [failed] = (await shop.call(listMessages, { params: { id } })).body.data
    expect(failed).toMatchObject({
      failureCode: 'provider-error',
      failureMessage: 'The messaging provider took nothing for 30 minutes',
    })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
  })

  test('is also sent while its campaign is paused', async () => {
    const shop = await sendingShop(app)
    const contacts = [{ phone: '+5511960000001' }, { phone: '+5511970000001' }]
    const id = await shop.draft(await shop.list(contacts))
    await shop.call(sendCampaign, { params: { id } })
    await app.drainJobs()
    expect((await shop.call(pauseCampaign, { params: { id } })).status).toBe(200)
    const failed = async () =>
      (await shop.call(listMessages, { params: { id }, query: { status: 'failed' } })).body.data
    const [message] = await failed()
    await shop.call(retryMessage, { params: { id, messageId: message.id } })
    expect(await countersOf(shop, id)).toMatchObject({ failed: 0, pending: 2 })
    await runUntil(app, async () => (await shop.read(id)).counters.failed === 1, betweenMs, 5)
    expect(await failed()).toMatchObject([{ id: message.id, attempts: 2 }])
    expect(await shop.read(id)).toMatchObject({ status: 'paused', counters: { pending: 1 } })
  })
})
