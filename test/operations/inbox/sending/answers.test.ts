/** Messages of the team (rule 5). */
import { beforeAll, describe, expect, test } from 'vitest'
import listMessages from '#operations/inbox/messages/api/list-messages'
import sendMessage from '#operations/inbox/messages/api/send-message'
import uploadMedia from '#operations/inbox/messages/api/upload-media'
import createQuickReply from '#operations/inbox/quick-replies/api/create-quick-reply'
import deleteQuickReply from '#operations/inbox/quick-replies/api/delete-quick-reply'
import listQuickReplies from '#operations/inbox/quick-replies/api/list-quick-replies'
import disable from '#operations/inbox/switch/api/disable'
import enable from '#operations/inbox/switch/api/enable'
import { getSandbox } from '#operations/messaging/provider/sandbox'
import { phoneKey } from '#runtime/values/phone'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import { eachLater } from '#test/support/test-clock'

const app = await testApp()
await app.setClock('2026-11-20T10:00:00.000Z')
const sandbox = getSandbox(app.services.adapters.messaging)
const phone = '+5511987654321'

const send = (shop: InboxShop, id: string, body: Record<string, unknown>) =>
  shop.call(sendMessage, { params: { id }, body })
async function newest(shop: InboxShop, id: string) {
  return (await shop.call(listMessages, { params: { id } })).body.data[0]
}
async function drainWithCallbacks(): Promise<void> {
  await app.drainJobs()
  await app.advance(3_000)
  await app.drainJobs()
}

describe('the window', () => {
  let shop: InboxShop
  let id: string
  beforeAll(async () => {
    await app.setClock('2026-11-20T10:00:00.000Z')
    shop = await inboxShop(app)
    await shop.write({ phone, name: 'Rita', text: 'Oi', occurredAt: new Date('2026-11-20T10:00:00.000Z') })
    id = (await shop.conversation()).id
  })

  test('the window is open until its last millisecond', async () => {
    expect((await shop.conversation()).windowExpiresAt).toBe('2026-11-21T10:00:00.000Z')
    await app.setClock('2026-11-21T09:59:59.999Z')
    const sent = await send(shop, id, { type: 'text', text: 'Still here' })
    expect(sent.status).toBe(201)
    expect(sent.body).toMatchObject({
      status: 'queued',
      source: 'agent',
      direction: 'outbound',
      sentBy: { userId: shop.userId, name: 'Olivia Owner' },
    })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 1 })
    await app.drainJobs()
    expect(await newest(shop, id)).toMatchObject({ status: 'sent' })
    await app.setClock('2026-11-21T10:00:00.000Z')
    const late = await send(shop, id, { type: 'text', text: 'Too late' })
    expect(late.status).toBe(409)
    expect(late.body.error.message).toContain('template')
    await drainWithCallbacks()
    const read = await newest(shop, id)
    expect(read).toMatchObject({ status: 'read', error: null })
    expect([read.sentAt, read.deliveredAt, read.readAt]).not.toContain(null)
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
    expect(await shop.conversation()).toMatchObject({
      lastMessageDirection: 'outbound',
      lastMessageStatus: 'read',
      lastMessagePreview: 'Still here',
      waitingSince: null,
    })
  })

  test('after the window only an approved template with its parameters is sent', async () => {
    await app.setClock('2026-11-21T10:01:00.000Z')
    const ctx = await shop.context()
    const approved = await makeTemplate(ctx, {
      name: 'hello',
      body: 'Hi {{1}}, see {{2}}',
      category: 'utility',
    })
    const pending = await makeTemplate(ctx, { name: 'slow', body: 'Hi', status: 'pending' })
    const template = (officialapiTemplateId: number, body: string[]) =>
      send(shop, id, { type: 'template', officialapiTemplateId, templateParameters: { body } })
    expect((await template(pending, [])).status).toBe(409)
    const few = await template(approved, ['Rita'])
    expect(few.status).toBe(400)
    expect(few.body.error.message).toContain('templateParameters.body')
    const sent = await template(approved, ['Rita', 'this'])
    expect(sent.status).toBe(201)
    expect(sent.body).toMatchObject({ type: 'template', text: 'Hi Rita, see this' })
    await drainWithCallbacks()
    expect(await newest(shop, id)).toMatchObject({ status: 'read', text: 'Hi Rita, see this' })
  })

  test('the window is checked again when the message is sent', async () => {
    const other = '+5511987650009'
    await shop.write({ phone: other, text: 'Oi', occurredAt: new Date('2026-11-21T10:00:00.000Z') })
    const conversation = await shop.conversation('987650009')
    await app.setClock('2026-11-22T09:59:59.000Z')
    const before = await shop.usage()
    expect((await send(shop, conversation.id, { type: 'text', text: 'Now' })).status).toBe(201)
    await app.setClock('2026-11-22T10:00:01.000Z')
    await app.drainJobs()
    expect(await newest(shop, conversation.id)).toMatchObject({
      status: 'failed',
      error: { code: 'window-closed' },
      sentAt: null,
    })
    expect(await shop.usage()).toEqual(before)
  })

  test('a message that arrives three hours late opens the window for 21 hours', async () => {
    await app.setClock('2026-11-25T13:00:00.000Z')
    await shop.write({
      phone: '+5511987650008',
      text: 'Oi',
      occurredAt: new Date('2026-11-25T10:00:00.000Z'),
    })
    expect((await shop.conversation('987650008')).windowExpiresAt).toBe('2026-11-26T10:00:00.000Z')
  })
})

let nextPhone = 10

describe('states', () => {
  let shop: InboxShop
  beforeAll(async () => {
    shop = await inboxShop(app)
  })
  const answered = async (to: string, text = 'Hello') => {
    await shop.write({ phone: to, text: 'Oi' })
    const { id } = await shop.conversation(to.slice(-8))
    const { body } = await send(shop, id, { type: 'text', text })
    await app.drainJobs()
    return { id, message: body, now: () => newest(shop, id) }
  }

  test.each(['disconnected', 'number-limit', 'frequency-capped', 'recipient-stopped'])(
    'the failure code of the network is passed on: %s',
    async (code) => {
      const { now } = await answered(`+55119876502${String(nextPhone++).padStart(2, '0')}`)
      const { providerMessageId } = await now()
      await shop.status(providerMessageId, 'failed', code)
      expect(await now()).toMatchObject({ status: 'failed', error: { code } })
    },
  )

  test('a phone that is not on the network fails at once, another phone after sending', async () => {
    const before = await shop.usage()
    const { now } = await answered('+5511987650001')
    expect(await now()).toMatchObject({ status: 'failed', error: { code: 'not-on-network' } })
    expect(await shop.usage()).toEqual(before)
    const other = await answered('+5511987650002')
    expect(await other.now()).toMatchObject({ status: 'sent' })
    await drainWithCallbacks()
    expect(await other.now()).toMatchObject({ status: 'failed', error: { code: 'undelivered' } })
    expect(await shop.usage()).toEqual({ used: before.used + 1, reserved: 0 })
  })
})

describe('retries', () => {
  let shop: InboxShop
  let id: string
  beforeAll(async () => {
    shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi' })
    id = (await shop.conversation()).id
  })
  eachLater(app, 900_000)
  const left = async () => (await sandbox.outbox(shop.id, phone)).reverse()

  test('the same clientId creates one message', async () => {
    const body = { type: 'text', text: 'Once', clientId: 'web-1' }
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => send(shop, id, body)))
    expect(answers.map((each) => each.status)).toEqual([201, 201, 201, 201, 201])
    expect(new Set(answers.map((each) => each.body.id)).size).toBe(1)
    expect((await send(shop, id, { ...body, text: 'Twice' })).status).toBe(409)
    await app.drainJobs()
    expect(await left()).toHaveLength(1)
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('a worker that dies after the provider accepted a message sends nothing twice', async () => {
    await sandbox.setMode(shop.id, 'timeout')
    const { body } = await send(shop, id, { type: 'text', text: 'Lost answer' })
    await app.drainJobs()
    expect(await newest(shop, id)).toMatchObject({ id: body.id, status: 'queued' })
    await sandbox.setMode(shop.id, 'up')
    await app.advance(5_000)
    await app.drainJobs()
    const settled = await newest(shop, id)
    expect(settled.id).toBe(body.id)
    expect(['sent', 'delivered', 'read']).toContain(settled.status)
    const sent = (await left()).filter((each) => each.content.text === 'Lost answer')
    expect(sent).toMatchObject([{ idempotencyKey: `in_${body.id}_1`, via: 'official' }])
    expect(await shop.usage()).toEqual({ used: 2, reserved: 0 })
  })

  test('a refused provider call is retried three times', async () => {
    await sandbox.setMode(shop.id, 'down')
    const { body } = await send(shop, id, { type: 'text', text: 'Never' })
    for (const seconds of [0, 5, 30, 120]) {
      expect(await newest(shop, id)).toMatchObject({ id: body.id, status: 'queued' })
      await app.advance(seconds * 1000)
      await app.drainJobs()
    }
    expect(await newest(shop, id)).toMatchObject({ status: 'failed', error: { code: 'provider-error' } })
    expect(await shop.usage()).toEqual({ used: 2, reserved: 0 })
    await sandbox.setMode(shop.id, 'up')
  })

  test('messages are sent in the order of their requests', async () => {
    const texts = Array.from({ length: 10 }, (_, i) => `n${i}`)
    for (const text of texts) expect((await send(shop, id, { type: 'text', text })).status).toBe(201)
    await app.drainJobs()
    const sent = (await left()).map((each) => each.content.text)
    expect(sent.filter((text) => /^n\d$/.test(String(text)))).toEqual(texts)
  })

  test('without idempotency keys a message is indeterminate after ten minutes, unless a callback resolves it', async () => {
    const capabilities = sandbox.capabilities as { idempotentSend: boolean }
    capabilities.idempotentSend = false
    try {
      await sandbox.setMode(shop.id, 'timeout')
      const lost = (await send(shop, id, { type: 'text', text: 'Lost' })).body
      await app.drainJobs()
      const held = (await left()).find((each) => each.content.text === 'Lost')!
      expect(held.calls).toBe(1)
      await shop.status(held.providerMessageId, 'delivered')
      const settled = (await shop.call(listMessages, { params: { id } })).body.data
      expect(settled.find((each: { id: string }) => each.id === lost.id)).toMatchObject({
        status: 'delivered',
      })
      const usage = await shop.usage()
      const unknown = (await send(shop, id, { type: 'text', text: 'Unknown' })).body
      await app.drainJobs()
      await app.advance(10 * 60_000)
      await sandbox.setMode(shop.id, 'up')
      await app.worker.drain()
      const after = (await shop.call(listMessages, { params: { id } })).body.data
      const message = after.find((each: { id: string }) => each.id === unknown.id)
      // Its callbacks have arrived in the meantime and prove that it was sent.
      expect(['read', 'failed']).toContain(message.status)
      expect((await left()).find((each) => each.content.text === 'Unknown')!.calls).toBe(1)
      expect((await shop.usage()).used).toBe(usage.used + 1)
    } finally {
      capabilities.idempotentSend = true
      await sandbox.setMode(shop.id, 'up')
    }
  })
})

describe('content', () => {
  let shop: InboxShop
  let id: string
  beforeAll(async () => {
    shop = await inboxShop(app)
    await shop.write({ phone, name: '{{orderTotal}}', text: 'Oi' })
    id = (await shop.conversation()).id
  })

  test('fields that do not match the type are named in the error', async () => {
    for (const [body, field] of [
      [{ text: 'x' }, 'type'],
      [{ type: 'text' }, 'text'],
      [{ type: 'audio', mediaUrl: 'x', text: 'y' }, 'text'],
      [{ type: 'image', text: 'y' }, 'mediaUrl'],
      [{ type: 'image', mediaUrl: 'https://elsewhere.example/a.png' }, 'mediaUrl'],
      [{ type: 'text', text: 'x'.repeat(4097) }, 'text'],
    ] as const) {
      const answer = await send(shop, id, body)
      expect([answer.status, answer.body.error.message]).toEqual([400, expect.stringContaining(field)])
    }
    const replied = await send(shop, id, { type: 'text', text: 'x', replyToMessageId: id })
    expect(replied.status).toBe(404)
  })

  test('only uploaded files are sent', async () => {
    const bytes = Buffer.from('%PDF-1.1')
    const input = { fileName: 'label.pdf', contentType: 'application/pdf', size: bytes.length }
    const { body: upload, status } = await shop.call(uploadMedia, { body: input })
    expect(status).toBe(200)
    const message = { type: 'document', mediaUrl: upload.fileUrl, text: 'Your label' }
    const put = await app.services.adapters.files!(
      new Request(upload.uploadUrl, { method: 'PUT', headers: upload.headers, body: bytes }),
    )
    expect(put.status).toBeLessThan(300)
    const sent = await send(shop, id, message)
    expect(sent.body).toMatchObject({
      type: 'document',
      media: { status: 'ready', fileName: 'label.pdf', size: 8, contentType: 'application/pdf' },
    })
    expect(sent.body.media.url).toContain('label')
    await app.drainJobs()
    const [left] = await sandbox.outbox(shop.id, phone)
    expect(left).toMatchObject({
      kind: 'media',
      content: { media: { type: 'document', fileName: 'label.pdf' } },
    })
  })

  test('the values of a quick reply are filled once', async () => {
    const reply = (body: Record<string, unknown>) => shop.call(createQuickReply, { body })
    const made = await reply({ shortcut: '/Frete', text: 'Hi {{customerName}}!' })
    expect(made.body).toMatchObject({ shortcut: 'frete', title: 'frete', variables: ['customerName'] })
    expect((await reply({ shortcut: 'frete', text: 'x' })).status).toBe(409)
    const unknown = await reply({ shortcut: 'nope', text: '{{nope}}' })
    expect([unknown.status, unknown.body.error.message]).toEqual([400, expect.stringContaining('{{nope}}')])
    const sent = await send(shop, id, { quickReplyId: made.body.id })
    expect(sent.body).toMatchObject({ type: 'text', text: 'Hi {{orderTotal}}!', quickReplyId: made.body.id })
    const strict = await reply({ shortcut: 'code', text: 'Code {{trackingCode}}' })
    const lacking = await send(shop, id, { quickReplyId: strict.body.id })
    expect([lacking.status, lacking.body.error.message]).toEqual([
      409,
      expect.stringContaining('trackingCode'),
    ])
    const soft = await reply({ shortcut: 'soon', text: 'Code {{trackingCode|soon}}' })
    expect((await send(shop, id, { quickReplyId: soft.body.id })).body.text).toBe('Code soon')
    expect((await send(shop, id, { quickReplyId: soft.body.id, text: 'x' })).status).toBe(400)
    expect((await shop.call(deleteQuickReply, { params: { id: soft.body.id } })).status).toBe(204)
    expect((await send(shop, id, { quickReplyId: soft.body.id })).status).toBe(404)
  })

  test('a quick reply uses the newest order, with amounts in the locale of the store', async () => {
    await shop.write({ phone: '+5511987654399', text: 'Oi' })
    const at = app.services.clock.now()
    await (await shop.context()).db
      .insertInto('orders')
      .values({
        id: 'q1',
        number: '1001',
        status: 'open',
        payment_status: 'paid',
        fulfillment_status: 'shipped',
        currency: 'BRL',
        subtotal: '1',
        total: '1234.50',
        phone_key: phoneKey('+5511987654399'),
        placed_at: at,
        updated_at: at,
      })
      .execute()
    const made = await shop.call(createQuickReply, { body: { shortcut: 'o', text: '{{orderTotal}}' } })
    const { id: conversationId } = await shop.conversation('987654399')
    const { body } = await shop.call(listQuickReplies, { query: { conversationId, search: '{{orderTotal' } })
    expect(body.data).toMatchObject([{ rendered: 'R$ 1.234,50' }])
    const sent = await send(shop, conversationId, { quickReplyId: made.body.id })
    expect(sent.body.text).toBe('R$ 1.234,50')
  })

  test('while the inbox is off only queued messages are sent', async () => {
    await app.drainJobs()
    const queued = await send(shop, id, { type: 'text', text: 'Queued before' })
    await shop.call(disable, { body: {} })
    expect((await send(shop, id, { type: 'text', text: 'Off' })).status).toBe(409)
    await app.drainJobs()
    expect((await newest(shop, id)).id).toBe(queued.body.id)
    expect((await newest(shop, id)).status).toBe('sent')
    await shop.call(enable, { body: {} })
  })

  test('nothing is sent without remaining quota', async () => {
    const ctx = await shop.context()
    await ctx.db.updateTable('usage_cycles').set({ message_limit: 0 }).execute()
    expect((await send(shop, id, { type: 'text', text: 'x' })).status).toBe(403)
  })
})
