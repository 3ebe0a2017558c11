import { describe, expect, test } from 'vitest'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import sendMessage from '#operations/messaging/sends/api/send-message'
import testTemplate from '#operations/messaging/sends/api/test-template'
import { dayMs } from '#runtime/durations'
import { connectNumber, makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { deliverHook, readUsage } from '#test/support/numbers'
import { type Answer, type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = getSandbox(app.services.adapters.messaging)
const phone = '+5511988887777'

async function shopOn(
  type: 'qr' | 'official' | 'shared' | null,
  options: Parameters<typeof store>[1] = {},
): Promise<Shop> {
  const shop = await store(app, options)
  if (type) await connectNumber(await shop.context(), { type, phone: '+551140001000' })
  return shop
}
const send = (shop: Shop, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  shop.call(sendMessage, { body: { phone, ...body }, headers })
const outbox = (shop: Shop, to?: string) => sandbox.outbox(shop.id, to)
const readRows = (shop: Shop) =>
  app.database.root.selectFrom('direct_messages').selectAll().where('store_id', '=', shop.id).execute()
async function advance(ms: number): Promise<void> {
  await app.advance(ms)
  await app.drainJobs()
}
async function inbound(shop: Shop, from = phone, text = 'Hello', occurredAt?: string): Promise<void> {
  const hook = sandbox.inbound({
    numberId: `sandbox-${shop.id}`,
    phone: from,
    text,
    ...(occurredAt ? { occurredAt: new Date(occurredAt) } : {}),
  })
  expect(await deliverHook(app, hook)).toBe(200)
  await app.drainJobs()
}
const createGreeting = async (shop: Shop, change: object = {}): Promise<number> =>
  makeTemplate(await shop.context(), {
    name: 'greeting',
    body: 'Hi {{1}}!',
    category: 'marketing',
    examples: { header: [], body: ['Ana'], buttons: [] },
    ...change,
  })

describe('POST /messaging/send-message', () => {
  test('a text is sent, delivered and read', async () => {
    const shop = await shopOn('qr')
    const { status, body } = await send(shop, { phone: '(11) 98888-7777', text: 'Hello', name: 'Ana' })
    expect(status).toBe(201)
    expect(body).toEqual({
      id: body.id,
      purpose: 'message',
      phone,
      name: 'Ana',
      type: 'text',
      text: 'Hello',
      mediaUrl: null,
      officialapiTemplateId: null,
      templateParameters: null,
      connectionType: 'qr',
      status: 'sent',
      error: null,
      sentAt: '2026-11-20T12:00:00.000Z',
      deliveredAt: null,
      readAt: null,
      failedAt: null,
      createdAt: '2026-11-20T12:00:00.000Z',
      updatedAt: '2026-11-20T12:00:00.000Z',
    })
    expect(await outbox(shop)).toMatchObject([
      { idempotencyKey: `dm_${body.id}_1`, content: { text: 'Hello' } },
    ])
    await advance(2_000)
    const [row] = await readRows(shop)
    expect(row).toMatchObject({ status: 'read', delivered_at: new Date('2026-11-20T12:00:00.500Z') })
    const ledger = await app.database.root
      .selectFrom('message_ledger')
      .selectAll()
      .where('store_id', '=', shop.id)
      .execute()
    expect(ledger).toMatchObject([{ message_id: body.id, source: 'direct', status: 'read' }])
    expect(await readUsage(shop)).toEqual({ used: 1, reserved: 0 })
  })

  test('pictures are sent with a caption, and documents with their name', async () => {
    const shop = await shopOn('qr')
    const url = 'https://cdn.example.com/files/invoice.pdf?x=1'
    expect((await send(shop, { type: 'image', mediaUrl: url, text: 'Look' })).body).toMatchObject({
      type: 'image',
      text: 'Look',
      mediaUrl: url,
    })
    expect((await send(shop, { type: 'document', mediaUrl: url })).body).toMatchObject({ text: null })
    const left = (await outbox(shop)).map(({ content }) => content)
    expect(left).toHaveLength(2)
    expect(left).toContainEqual({
      media: { type: 'document', url, fileName: 'invoice.pdf' },
      text: null,
      replyTo: null,
    })
    expect(left).toContainEqual({
      media: { type: 'image', url, fileName: null },
      text: 'Look',
      replyTo: null,
    })
  })

  test.each<[string, string, object]>([
    ['no content', 'text', {}],
    ['an unfit template', 'officialapiTemplateId', { text: 'Hi', type: 'text', officialapiTemplateId: 1 }],
    ['a text with media', 'mediaUrl', { text: 'Hi', mediaUrl: 'https://a.example/a.png' }],
    ['a picture without address', 'mediaUrl', { type: 'image', text: 'Hi' }],
    ['an address without https', 'mediaUrl', { type: 'image', mediaUrl: 'http://a.example/a.png' }],
    [
      'a caption of 1025',
      'text',
      { type: 'image', mediaUrl: 'https://a.example/a.png', text: 'x'.repeat(1025) },
    ],
    ['a text of 4097', 'text', { text: 'x'.repeat(4097) }],
    ['a template without id', 'officialapiTemplateId', { type: 'template' }],
    ['a template with text', 'text', { officialapiTemplateId: 1, text: 'Hi' }],
    ['parameters of no template', 'templateParameters', { text: 'Hi', templateParameters: { body: ['a'] } }],
    ['no phone', 'phone', { phone: 'abc', text: 'Hi' }],
  ])('%s is refused by name', async (_name, field, body) => {
    const shop = await shopOn('qr')
    const { status, body: answer } = await send(shop, body)
    expect([status, answer.error?.message]).toEqual([400, expect.stringContaining(`${field}: `)])
    expect(await outbox(shop)).toEqual([])
  })

  test('nothing is sent without a connection, by one that cannot carry it, or beyond the plan', async () => {
    expect((await send(await shopOn(null), { text: 'Hi' })).status).toBe(409)
    const onQr = await shopOn('qr')
    const template = await createGreeting(onQr)
    const filled = { officialapiTemplateId: template, templateParameters: { body: ['Ana'] } }
    expect((await send(onQr, filled)).status).toBe(409)
    const shared = await shopOn('shared')
    expect((await send(shared, { text: 'x'.repeat(900) })).status).toBe(201)
    expect((await send(shared, { text: 'x'.repeat(901) })).status).toBe(400)
    expect((await send(shared, { type: 'image', mediaUrl: 'https://a.example/a.png' })).status).toBe(409)
    const starter = await shopOn('official', { plan: 'starter' })
    expect((await send(starter, { text: 'Hi' })).status).toBe(403)
  })

  test('over the official number a text needs an open window, which ends after exactly 24 hours', async () => {
    const shop = await shopOn('official')
    expect((await send(shop, { text: 'Hi' })).status).toBe(409)
    const at = app.clock.now()
    await inbound(shop, phone, 'Hello', at.toISOString())
    expect((await send(shop, { text: 'Hi' })).body.status).toBe('sent')
    await app.setClock(new Date(at.getTime() + dayMs - 1))
    expect((await send(shop, { text: 'Hi' })).status).toBe(201)
    await app.setClock(new Date(at.getTime() + dayMs))
    expect((await send(shop, { text: 'Hi' })).status).toBe(409)
  })

  test('a template is sent as rendered, unless it is unknown, not approved or miscounted', async () => {
    const shop = await shopOn('official')
    const id = await createGreeting(shop)
    const pending = await createGreeting(shop, { name: 'other', status: 'pending' })
    const filled = { templateParameters: { body: ['Ana'] } }
    expect((await send(shop, { officialapiTemplateId: 999_999, ...filled })).status).toBe(404)
    expect((await send(shop, { officialapiTemplateId: pending, ...filled })).status).toBe(409)
    const few = await send(shop, { officialapiTemplateId: id })
    expect([few.status, few.body.error.message]).toEqual([
      400,
      'templateParameters.body: the template greeting needs 1, and there are 0',
    ])
    const { status, body } = await send(shop, { officialapiTemplateId: id, ...filled })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      type: 'template',
      text: 'Hi Ana!',
      officialapiTemplateId: id,
      templateParameters: { header: [], body: ['Ana'], buttons: [] },
      connectionType: 'official',
    })
  })

  test('the sandbox refuses, fails and opts out by the end of a phone', async () => {
    const shop = await shopOn('qr')
    const refused = await send(shop, { phone: '+5511988880001', text: 'Hi' })
    expect([refused.status, refused.body.error.message]).toEqual([409, 'The phone is not on the network'])
    expect(await readUsage(shop)).toMatchObject({ used: 0, reserved: 0 })
    expect(await readRows(shop)).toMatchObject([{ status: 'failed', error_code: 'not-on-network' }])

    const failing = await send(shop, { phone: '+5511988880002', text: 'Hi' })
    expect(failing.status).toBe(201)
    await advance(2_000)
    expect((await readRows(shop)).find((row) => row.id === failing.body.id)).toMatchObject({
      status: 'failed',
      error_code: 'undelivered',
    })
    expect(await readUsage(shop)).toMatchObject({ used: 1 })

    expect((await send(shop, { phone: '+5511988880003', text: 'Hi' })).status).toBe(201)
    await advance(4_000)
    expect((await send(shop, { phone: '+5511988880003', text: 'Hi' })).status).toBe(409)
  })

  test('an opted-out person gets no text and no marketing, but a utility template', async () => {
    const shop = await shopOn('official')
    await shop.call(addOptOut, { body: { phone } })
    await inbound(shop)
    const parameters = { templateParameters: { body: ['Ana'] } }
    const marketing = await createGreeting(shop)
    const utility = await createGreeting(shop, { name: 'order', category: 'utility' })
    expect((await send(shop, { text: 'Hi' })).status).toBe(409)
    expect((await send(shop, { officialapiTemplateId: marketing, ...parameters })).status).toBe(409)
    expect((await send(shop, { officialapiTemplateId: utility, ...parameters })).status).toBe(201)
  })

  test('a person who stopped marketing at the network is opted out', async () => {
    const shop = await shopOn('qr')
    const { body } = await send(shop, { text: 'Hi' })
    const [left] = await outbox(shop)
    const hook = await sandbox.status(shop.id, {
      providerMessageId: left!.providerMessageId,
      status: 'failed',
      code: 'recipient-stopped',
    })
    await deliverHook(app, hook!)
    await app.drainJobs()
    expect((await readRows(shop))[0]).toMatchObject({ id: body.id, error_code: 'recipient-stopped' })
    expect((await shop.call(listOptOuts)).body.data).toMatchObject([{ phone, source: 'provider' }])
  })
})

describe('a failing provider', () => {
  test('a message whose answer was lost is queued, and sent once', async () => {
    const shop = await shopOn('qr')
    await sandbox.setMode(shop.id, 'timeout')
    const { status, body } = await send(shop, { text: 'Hi' })
    expect([status, body.status, body.sentAt]).toEqual([201, 'queued', null])
    await sandbox.setMode(shop.id, 'up')
    await advance(5_000)
    expect(await readRows(shop)).toMatchObject([{ status: 'read' }])
    expect(await outbox(shop)).toHaveLength(1)
    expect(await readUsage(shop)).toMatchObject({ used: 1, reserved: 0 })
  })

  test.each([
    // After 5 and 30 seconds, and as soon as the provider allowed.
    ['down', 29_000, 1_000],
    ['throttle', 0, 5_000],
  ] as const)('a message waits while the provider is %s', async (mode, notYetMs, thenMs) => {
    const shop = await shopOn('qr')
    await sandbox.setMode(shop.id, mode)
    expect((await send(shop, { text: 'Hi' })).body.status).toBe('queued')
    await advance(5_000)
    expect(await outbox(shop)).toEqual([])
    await sandbox.setMode(shop.id, 'up')
    await advance(notYetMs)
    expect(await outbox(shop)).toEqual([])
    await advance(thenMs)
    expect(await outbox(shop)).toHaveLength(1)
  })

  test('a message fails after ten minutes of outage, and its unit is released', async () => {
    const shop = await shopOn('qr')
    await sandbox.setMode(shop.id, 'down')
    await send(shop, { text: 'Hi' })
    for (let minutes = 0; minutes < 12; minutes += 1) await advance(60_000)
    expect(await readRows(shop)).toMatchObject([{ status: 'failed', error_code: 'provider-error' }])
    expect(await readUsage(shop)).toMatchObject({ used: 0, reserved: 0 })
    await sandbox.setMode(shop.id, 'up')
  })

  test("the sweep sends a dead worker's message once, whether it died before or after the call", async () => {
    for (const wasCalled of [false, true]) {
      const shop = await shopOn('qr')
      await sandbox.setMode(shop.id, wasCalled ? 'timeout' : 'down')
      await send(shop, { text: 'Hi' })
      // The row as it is during its request.
      await app.database.root
        .updateTable('direct_messages')
        .set({
          next_try_at: new Date(app.clock.ms() + 120_000),
          ...(wasCalled ? {} : { called_at: null, attempts: 0 }),
        })
        .where('store_id', '=', shop.id)
        .execute()
      await app.database.root
        .updateTable('sandbox_messages')
        .set({ next_event_at: null })
        .where('store_id', '=', shop.id)
        .execute()
      await sandbox.setMode(shop.id, 'up')
      await advance(119_000)
      expect(await readRows(shop)).toMatchObject([{ status: 'queued' }])
      await advance(61_000)
      expect((await readRows(shop))[0]!.sent_at).not.toBeNull()
      expect(await outbox(shop)).toHaveLength(1)
      expect(await readUsage(shop)).toMatchObject({ used: 1, reserved: 0 })
    }
  })
})

describe('an Idempotency-Key', () => {
  test('an Idempotency-Key repeated after a crash finds the same message', async () => {
    const shop = await shopOn('qr')
    const headers = { 'idempotency-key': 'order-1' }
    await sandbox.setMode(shop.id, 'timeout')
    const first = await send(shop, { text: 'Hi' }, headers)
    await app.database.root
      .updateTable('direct_messages')
      .set({ claimed_at: app.clock.now(), next_try_at: null, may_have_left: false })
      .where('store_id', '=', shop.id)
      .execute()
    await app.database.root
      .updateTable('idempotency_keys')
      // Its lease uses the database's own clock.
      .set({ status: null, body: null, claimed_at: new Date('2000-01-01') })
      .where('store_id', '=', shop.id)
      .execute()
    await sandbox.setMode(shop.id, 'up')
    await app.advance(60_001)
    const second = await send(shop, { text: 'Hi' }, headers)
    expect([second.status, second.body.id, second.body.status]).toEqual([201, first.body.id, 'sent'])
    expect(await outbox(shop)).toMatchObject([{ calls: 2 }])
    expect(await readRows(shop)).toHaveLength(1)
  })
})

describe('POST /messaging/templates/:id/test', () => {
  test('a template test is sent through the official number with its examples, whatever is selected', async () => {
    const shop = await shopOn('official')
    const id = await createGreeting(shop)
    await connectNumber(await shop.context(), { type: 'qr', phone: '+5511900002222' })
    const { status, body } = await shop.call(testTemplate, { params: { id: String(id) }, body: { phone } })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      purpose: 'template-test',
      connectionType: 'official',
      text: 'Hi Ana!',
      status: 'sent',
    })
    expect(await outbox(shop)).toMatchObject([{ via: 'official' }])
    const own = await shop.call(testTemplate, {
      params: { id: String(id) },
      body: { phone, templateParameters: { body: ['Bia'] } },
    })
    expect(own.body.text).toBe('Hi Bia!')
    const pending = await createGreeting(shop, { name: 'other', status: 'pending' })
    expect((await shop.call(testTemplate, { params: { id: String(pending) }, body: { phone } })).status).toBe(
      409,
    )
    expect((await shop.call(testTemplate, { params: { id: '999999' }, body: { phone } })).status).toBe(404)
  })
})
