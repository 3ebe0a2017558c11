/** Messages written in the provider's own app, and messages of other sections (rules 3 and 4). */
import { beforeEach, describe, expect, test } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import listMessages from '#operations/inbox/messages/api/list-messages'
import disable from '#operations/inbox/switch/api/disable'
import enable from '#operations/inbox/switch/api/enable'
import reconcile from '#operations/inbox/switch/api/reconcile'
import { sending } from '#operations/messaging/index'
import { selectConnection } from '#operations/store/profile/stores'
import * as metering from '#operations/store/quota/metering'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'

const app = await testApp()
const noon = '2026-11-20T12:00:00.000Z'
const phone = '+5511987654321'
const listConversationMessages = async (shop: InboxShop) => {
  const { id } = await shop.conversation()
  return (await shop.call(listMessages, { params: { id } })).body.data
}
const providerIds = (messages: { providerMessageId: string }[]) =>
  messages.map((each) => each.providerMessageId)

beforeEach(() => app.setClock(noon))

describe('messages written in the provider app', () => {
  test('an echo answers the contact, is stored once, and follows its statuses', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi', providerMessageId: 'w.in' })
    await app.advance(60_000)
    const echo = { phone, text: 'From my phone', isEcho: true, providerMessageId: 'w.echo', refersTo: 'w.in' }
    await Promise.all([shop.callback(echo), shop.callback(echo)])
    await shop.write(echo)
    const [own, first] = await listConversationMessages(shop)
    expect(own).toMatchObject({
      source: 'provider',
      direction: 'outbound',
      text: 'From my phone',
      status: 'sent',
      sentBy: null,
      replyToMessageId: first.id,
      occurredAt: '2026-11-20T12:01:00.000Z',
      sentAt: '2026-11-20T12:01:00.000Z',
    })
    expect(await shop.conversation()).toMatchObject({
      messageCount: 2,
      lastMessagePreview: 'From my phone',
      lastMessageDirection: 'outbound',
      waitingSince: null,
      unreadCount: 1,
    })
    await shop.statusOfForeign('w.echo', 'read')
    await shop.statusOfForeign('w.echo', 'delivered')
    expect((await listConversationMessages(shop))[0]).toMatchObject({
      status: 'read',
      deliveredAt: expect.any(String),
    })
    expect(await shop.conversation()).toMatchObject({ lastMessageStatus: 'read' })
    expect(await shop.usage()).toEqual({ used: 0, reserved: 0 })
  })

  test('an echo creates no conversation and does not answer later messages', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Hello', isEcho: true })
    expect((await shop.call(listConversations)).body.total).toBe(0)
    await shop.write({ phone, text: 'Oi', providerMessageId: 'w.1' })
    const before = new Date(app.clock.ms() - 60_000)
    await shop.write({ phone, text: 'Late', isEcho: true, occurredAt: before, providerMessageId: 'w.2' })
    await shop.write({ phone, type: 'reaction', isEcho: true, providerMessageId: 'w.3' })
    expect(await shop.conversation()).toMatchObject({ waitingSince: noon, lastMessagePreview: 'Oi' })
    expect(providerIds(await listConversationMessages(shop)).sort()).toEqual(['w.1', 'w.2', 'w.3'])
  })

  test('the picture of an echo is copied; an echo sent while the inbox was off is reconciled', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi', providerMessageId: 'w.a' })
    await shop.call(disable, { body: {} })
    await app.advance(1000)
    await shop.write({ phone, type: 'image', text: 'Look', isEcho: true, providerMessageId: 'w.b' })
    expect(providerIds(await listConversationMessages(shop))).toEqual(['w.a'])
    await shop.call(enable, { body: {} })
    await app.drainJobs()
    const [picture] = await listConversationMessages(shop)
    expect(picture).toMatchObject({ source: 'provider', type: 'image', media: { status: 'ready' } })
    expect(await shop.conversation()).toMatchObject({ waitingSince: null, messageCount: 2 })
    await shop.call(reconcile, { body: {} })
    await app.drainJobs()
    expect(providerIds(await listConversationMessages(shop))).toEqual(['w.b', 'w.a'])
  })
})

describe('messages of other sections', () => {
  const send = async (shop: InboxShop, source: 'direct' | 'messaging-campaign', text: string) => {
    const ctx = await shop.context()
    const messageId = ctx.newId()
    const reservationId = await metering.reserve(ctx, 1, source)
    await sending.recordSentMessages(ctx, source, reservationId, [
      {
        messageId,
        sourceId: messageId,
        sourceName: null,
        phone,
        providerMessageId: `w.${messageId}`,
        sentAt: app.clock.now(),
        isKnown: true,
        text,
      },
    ])
    return messageId
  }

  test('a single send creates a conversation; a campaign message neither creates nor moves one', async () => {
    const shop = await inboxShop(app)
    await selectConnection(await shop.context(), 'official')
    await send(shop, 'messaging-campaign', 'Sale')
    expect((await shop.call(listConversations)).body.total).toBe(0)
    await app.advance(60_000)
    await send(shop, 'direct', 'Your order')
    await app.drainJobs()
    // Backfilled with the earlier messages to the contact.
    expect((await listConversationMessages(shop)).map((each: { text: string | null }) => each.text)).toEqual([
      'Your order',
      null,
    ])
    const before = await shop.conversation()
    expect(before).toMatchObject({
      status: 'open',
      lastMessagePreview: 'Your order',
      lastInboundAt: null,
      windowOpen: false,
      windowExpiresAt: null,
      unreadCount: 0,
      messageCount: 2,
    })
    await app.advance(60_000)
    await send(shop, 'messaging-campaign', 'Another sale')
    const after = await shop.conversation()
    expect(after).toEqual({ ...before, messageCount: 3, updatedAt: after.updatedAt })
  })

  test('a message sent through another number is not shown', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi' })
    const ctx = await shop.context()
    await ctx.db.updateTable('stores').set({ messaging_connection_type: 'qr' }).execute()
    await send(shop, 'messaging-campaign', 'Sale')
    expect((await shop.conversation()).messageCount).toBe(1)
  })
})

test('a single send over the API is shown with its content and its sender', async () => {
  const shop = await inboxShop(app)
  const ctx = await shop.context()
  await selectConnection(ctx, 'official')
  const officialapiTemplateId = await makeTemplate(ctx, { name: 'hi', body: 'Hi {{1}}', category: 'utility' })
  const send = (body: object) => shop.request('POST', '/messaging/send-message', { body: { phone, ...body } })
  const templated = { type: 'template', officialapiTemplateId, templateParameters: { body: ['Rita'] } }
  expect((await send(templated)).status).toBe(201)
  await app.drainJobs()
  const [first] = await listConversationMessages(shop)
  expect(first).toMatchObject({
    source: 'api',
    type: 'template',
    text: 'Hi Rita',
    officialapiTemplateId,
    sentBy: { userId: shop.userId, name: 'Olivia Owner' },
  })
  await shop.write({ phone, text: 'Oi' })
  await app.advance(1000)
  const mediaUrl = 'https://cdn.example.com/a.png'
  expect((await send({ type: 'image', mediaUrl, text: 'Look' })).status).toBe(201)
  await app.drainJobs()
  expect((await listConversationMessages(shop))[0]).toMatchObject({
    type: 'image',
    text: 'Look',
    media: { url: mediaUrl, status: 'ready', expiresAt: null },
  })
  expect(await shop.conversation()).toMatchObject({ lastMessageType: 'image', waitingSince: null })
})
