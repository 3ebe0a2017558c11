import { describe, expect, test } from 'vitest'
import cancelCampaign from '#operations/campaigns/campaigns/api/cancel-campaign'
import listMessages from '#operations/campaigns/campaigns/api/list-messages'
import pauseCampaign from '#operations/campaigns/campaigns/api/pause-campaign'
import resumeCampaign from '#operations/campaigns/campaigns/api/resume-campaign'
import retryMessage from '#operations/campaigns/campaigns/api/retry-message'
import scheduleCampaign from '#operations/campaigns/campaigns/api/schedule-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import { contactErasure } from '#operations/campaigns/erasure/erasure'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import { takeSnapshot } from '#operations/campaigns/sending/audience'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { counted, makePhone, runUntil, type SendingShop, sendingShop } from '#test/support/campaigns'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00Z')

/** The example of rule 4. */
const six = [
  { phone: '+5511910000005', name: 'Ana Souza' },
  { phone: '+5511910000015', name: 'Bia Lima' },
  { phone: '+5511910000025', name: 'Opted Out' },
  { phone: '+5511910000001' },
  { phone: '+5511910000002' },
  { phone: '+5511910000003' },
]

describe('send', () => {
  test('matches the example of the counters (rule 4), and its retries', async () => {
    const shop = await sendingShop(app)
    await shop.call(addOptOut, { body: { phone: '+5511910000025' } })
    const id = await shop.draft(await shop.list(six))
    expect(await shop.read(id)).toMatchObject({
      audience: { size: 6, optedOut: 1, reachable: 5 },
      counters: { total: 0, optOuts: 0 },
    })
    const answer = await shop.call(sendCampaign, { params: { id } })
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      status: 'queued',
      campaign: { id, status: 'sending', startedAt: '2026-11-20T12:00:00.000Z' },
    })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 5 })
    await runUntil(app, async () => (await shop.read(id)).counters.optOuts === 1)
    expect(await shop.read(id)).toMatchObject({
      status: 'sent',
      audience: { size: 6, optedOut: 1, reachable: 5 },
      counters: {
        total: 6,
        pending: 0,
        sent: 3,
        delivered: 3,
        read: 3,
        failed: 2,
        skipped: 1,
        cancelled: 0,
        optOuts: 1,
      },
      completedAt: '2026-11-20T12:00:00.000Z',
      nextBatchAt: null,
    })
    const outs = await shop.call(listOptOuts, { query: { source: 'reply' } })
    expect(outs.body.data).toMatchObject([{ phone: '+5511910000003', campaignId: id }])
    expect(await shop.usage()).toEqual({ used: 4, reserved: 0 })
    expect((await shop.outbox()).get('+5511910000005')!.text).toBe('Oi Ana')

    const again = await shop.call(sendCampaign, { params: { id } })
    expect([again.status, again.body.error.message]).toEqual([
      409,
      'The campaign was sent already: duplicate it to send it again',
    ])
    const { body } = await shop.call(listMessages, { params: { id } })
    expect(body.total).toBe(6)
    const of = (end: string) => body.data.find((each: { phone: string }) => each.phone.endsWith(end))
    expect(of('0001')).toMatchObject({
      status: 'failed',
      failureCode: 'not-on-network',
      attempts: 1,
      sentAt: null,
    })
    expect(of('0002')).toMatchObject({ status: 'failed', failureCode: 'undelivered', text: 'Oi cliente' })
    expect(of('0025')).toMatchObject({ status: 'skipped', skipReason: 'opted-out', text: null, attempts: 0 })
    expect(of('0005')).toMatchObject({ status: 'read', text: 'Oi Ana', failureCode: null })

    const retried = await shop.call(retryMessage, { params: { id, messageId: of('0001').id } })
    expect(retried.status).toBe(202)
    expect(retried.body).toMatchObject({ status: 'queued', messageId: of('0001').id })
    expect(await shop.usage()).toEqual({ used: 4, reserved: 1 })
    expect((await shop.read(id)).counters).toMatchObject({ pending: 1, failed: 1 })
    await runUntil(app, async () => (await shop.read(id)).counters.pending === 0)
    const failed = await shop.call(listMessages, {
      params: { id },
      query: { status: 'failed', search: '0001' },
    })
    expect(failed.body.data).toMatchObject([
      { id: of('0001').id, attempts: 2, failureCode: 'not-on-network' },
    ])
    expect(await shop.usage()).toEqual({ used: 4, reserved: 0 })
    expect((await shop.call(retryMessage, { params: { id, messageId: of('0005').id } })).status).toBe(409)
    const { optOuts, ...counters } = (await shop.read(id)).counters
    expect([optOuts, counters]).toEqual([1, await counted(app, id)])
  })
  test('three concurrent sends become one, each phone once', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(20))
    const answers = await Promise.all([1, 2, 3].map(() => shop.call(sendCampaign, { params: { id } })))
    expect(answers.map((answer) => answer.status).sort()).toEqual([202, 409, 409])
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'sent', counters: { total: 20 } })
    const outbox = await shop.outbox()
    expect([outbox.size, [...outbox.values()].every(({ calls }) => calls === 1)]).toEqual([20, true])
    expect(await shop.usage()).toEqual({ used: 20, reserved: 0 })
  })

  test('more contacts than the remaining quota are refused, and nothing is reserved', async () => {
    const shop = await sendingShop(app)
    await shop.setQuota(3)
    const id = await shop.draft(await shop.list(5))
    const refused = await shop.call(sendCampaign, { params: { id } })
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringMatching(/\b5\b.*\b3\b/)])
    expect(await shop.read(id)).toMatchObject({ status: 'draft', startedAt: null })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
    await shop.setQuota(5)
    expect((await shop.call(sendCampaign, { params: { id } })).status).toBe(202)
  })
})

/** Unmet preconditions in the order of rule 2, each with the answer of schedule. */
const unsendable: [string, number, (shop: SendingShop) => Promise<string>][] = [
  [
    'listId: the contact list of the campaign was deleted',
    409,
    async (shop) => {
      const listId = await shop.list(1)
      const id = await shop.draft(listId, { content: {} })
      await app.database.root.updateTable('campaigns').set({ list_id: null }).where('id', '=', id).execute()
      return id
    },
  ],
  ['no text yet', 409, async (shop) => shop.draft(await shop.list(0), { content: {} })],
  ['no template yet', 409, async (shop) => shop.draft(await shop.list(0), { content: { type: 'template' } })],
  [
    'content.templateParameters.body: the template hello needs 2, and there are 1',
    409,
    async (shop) => {
      const id = await templateDraft(shop, {})
      const { db } = await shop.context()
      await db.updateTable('message_templates').set({ body: 'Hi {{1}}, it is {{2}} now.' }).execute()
      return id
    },
  ],
  [
    'content.media: the template hello needs a media of type image',
    409,
    (shop) => templateDraft(shop, {}, { header: { type: 'image', text: null, mediaUrl: null } }),
  ],
  ['official number only', 409, (shop) => templateDraft(shop, {})],
  [
    'No messaging connection',
    409,
    async (shop) => {
      await app.database.root
        .updateTable('messaging_connections')
        .set({ status: 'error' })
        .where('store_id', '=', shop.id)
        .execute()
      return shop.draft(await shop.list(0))
    },
  ],
  [
    'refused over the official number',
    409,
    async (shop) => {
      await connectNumber(await shop.context(), { type: 'official', phone: '+5511400010002' })
      return shop.draft(await shop.list(0))
    },
  ],
  [
    'only an approved one',
    409,
    async (shop) => {
      await connectNumber(await shop.context(), { type: 'official', phone: '+5511400010002' })
      return templateDraft(shop, {}, { status: 'paused' })
    },
  ],
  ['it has no contacts', 200, async (shop) => shop.draft(await shop.list(0))],
  [
    'all its contacts are opted out',
    200,
    async (shop) => {
      await shop.call(addOptOut, { body: { phone: makePhone(0) } })
      return shop.draft(await shop.list(1))
    },
  ],
  [
    'being imported',
    200,
    async (shop) => {
      const listId = await shop.list(1)
      await startImport(shop, listId)
      return shop.draft(listId)
    },
  ],
]

async function templateDraft(
  shop: SendingShop,
  content: Record<string, unknown>,
  template: Parameters<typeof makeTemplate>[1] | Record<string, unknown> = {},
): Promise<string> {
  const made = { name: 'hello', body: 'Hi {{1}} there', ...template }
  const officialapiTemplateId = await makeTemplate(await shop.context(), made)
  return shop.draft(await shop.list(0), {
    content: {
      type: 'template',
      officialapiTemplateId,
      templateParameters: { body: ['{{name}}'] },
      ...content,
    },
  })
}

async function startImport(shop: SendingShop, listId: string): Promise<void> {
  const ctx = await shop.context()
  const at = { created_at: ctx.now(), updated_at: ctx.now() }
  await ctx.db
    .insertInto('list_imports')
    .values({ id: ctx.newId(), list_id: listId, kind: 'csv', status: 'queued', ...at })
    .execute()
}

describe('checks before sending', () => {
  test.each(unsendable)('%s', async (message, scheduling, make) => {
    const shop = await sendingShop(app)
    const id = await make(shop)
    const before = await shop.read(id)
    const sent = await shop.call(sendCampaign, { params: { id } })
    expect([sent.status, sent.body.error?.message]).toEqual([409, expect.stringContaining(message)])
    expect(await shop.read(id)).toEqual(before)
    const body = { scheduledAt: '2026-12-01T10:00' }
    const scheduled = await shop.call(scheduleCampaign, { params: { id }, body })
    expect(scheduled.status).toBe(scheduling)
  })

  test('transitions that the state does not allow are refused', async () => {
    const shop = await sendingShop(app)
    const id = await shop.draft(await shop.list(1))
    const status = async (operation: typeof sendCampaign) =>
      (await shop.call(operation, { params: { id } })).status
    expect([await status(pauseCampaign), await status(resumeCampaign), await status(cancelCampaign)]).toEqual(
      [409, 409, 409],
    )
    expect(await status(sendCampaign)).toBe(202)
    await app.drainJobs()
    for (const operation of [sendCampaign, pauseCampaign, resumeCampaign, cancelCampaign]) {
      expect(await status(operation)).toBe(409)
    }
  })
})

describe('retry', () => {
  test('a message that cannot be retried is refused', async () => {
    const shop = await sendingShop(app)
    const phone = '+5511930000001'
    const id = await shop.draft(await shop.list([{ phone }, { phone: makePhone(1) }]))
    await shop.call(sendCampaign, { params: { id } })
    await app.drainJobs()
    const find = async () =>
      (await shop.call(listMessages, { params: { id }, query: { search: phone } })).body.data[0]
    const retry = async (messageId: string) => {
      const { status, body } = await shop.call(retryMessage, { params: { id, messageId } })
      await runUntil(app, async () => (await shop.read(id)).counters.pending === 0)
      return [status, body.error?.message]
    }
    const message = await find()
    expect(await retry('019a9b1e-5c00-7000-8000-000000000001')).toEqual([404, expect.anything()])
    for (let i = 0; i < 4; i += 1) expect((await retry(message.id))[0]).toBe(202)
    expect(await find()).toMatchObject({ status: 'failed', attempts: 5 })
    expect(await retry(message.id)).toEqual([409, expect.stringContaining('5 times')])
    await app.database.root
      .updateTable('campaign_messages')
      .set({ attempts: 1 })
      .where('id', '=', message.id)
      .execute()
    await shop.setQuota(1)
    expect(await retry(message.id)).toEqual([403, expect.anything()])
    await shop.setQuota(100)
    await shop.call(addOptOut, { body: { phone } })
    expect(await retry(message.id)).toEqual([409, expect.stringContaining('opted out')])
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('a retried message that had been accepted counts once, and is sent under a new key', async () => {
    const shop = await sendingShop(app)
    const phone = '+5511940000002'
    const id = await shop.draft(await shop.list([{ phone }]))
    await shop.call(sendCampaign, { params: { id } })
    const failedOnce = async () => (await shop.read(id)).counters.failed === 1
    await runUntil(app, failedOnce)
    const [message] = (await shop.call(listMessages, { params: { id } })).body.data
    expect(message).toMatchObject({ failureCode: 'undelivered', attempts: 1 })
    expect((await shop.call(retryMessage, { params: { id, messageId: message.id } })).status).toBe(202)
    expect((await shop.read(id)).counters).toMatchObject({ pending: 1, failed: 0 })
    await runUntil(app, failedOnce)
    expect((await shop.outbox()).get(phone)).toMatchObject({
      calls: 2,
      keys: [`cm_${message.id}_2`, `cm_${message.id}_1`],
    })
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
    const touches = await app.database.root
      .selectFrom('attribution_touches')
      .select(['voided_at'])
      .where('message_id', '=', message.id)
      .execute()
    expect(touches).toMatchObject([{ voided_at: expect.any(Date) }])
  })
})

test('erasing a person skips their pending message and releases its quota unit', async () => {
  const shop = await sendingShop(app)
  const id = await shop.draft(await shop.list([{ phone: '+5511910000011' }, { phone: '+5511910000021' }]))
  await shop.call(sendCampaign, { params: { id } })
  const ctx = await shop.context()
  await takeSnapshot(ctx, id)
  const [message] = await ctx.db.selectFrom('campaign_messages').select('phone_key').execute()
  const person = { customerId: null, emailKeys: [], orderIds: [], names: [], phoneKeys: [message!.phone_key] }
  await ctx.transaction((tx) => contactErasure.stop!(tx, person))
  expect((await shop.read(id)).counters).toMatchObject({ total: 2, pending: 1, skipped: 1, failed: 0 })
  expect(await shop.usage()).toEqual({ used: 0, reserved: 1 })
})
