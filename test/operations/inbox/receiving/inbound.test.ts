/** What comes in makes conversations that live (rule 3). */
import { beforeAll, describe, expect, test } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import markRead from '#operations/inbox/conversations/api/mark-read'
import setStatus from '#operations/inbox/conversations/api/set-status'
import listMessages from '#operations/inbox/messages/api/list-messages'
import addTag from '#operations/inbox/tags/api/add-tag'
import { receiveHook } from '#operations/messaging/callbacks/receive'
import { type SandboxInbound, sandboxNumberId, sandboxOf } from '#operations/messaging/provider/sandbox'
import { SystemContext } from '#runtime/context'
import { connectNumber } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const sandbox = sandboxOf(app.services.adapters.messaging)
const system = new SystemContext(app.services, app.services.log, 'test')

async function inboxShop(): Promise<Shop> {
  const shop = await store(app)
  const ctx = await shop.context()
  await connectNumber(ctx, {
    type: 'official',
    phone: `+55113${shop.slug.replace(/\D/g, '').slice(-6).padStart(6, '0')}0`,
  })
  const now = app.clock.now()
  await ctx.db
    .insertInto('inbox_settings')
    .values({ is_enabled: true, enabled_at: now, created_at: now, updated_at: now })
    .execute()
  return shop
}

async function callback(shop: Shop, message: Omit<SandboxInbound, 'numberId'>): Promise<void> {
  const hook = sandbox.inbound({ ...message, numberId: sandboxNumberId(shop.id, 'official') })
  await receiveHook(system, 'sandbox', hook.headers, hook.body)
}
async function write(shop: Shop, message: Omit<SandboxInbound, 'numberId'>): Promise<void> {
  await callback(shop, message)
  await app.drainJobs()
}
const only = async (shop: Shop) => {
  const { body } = await shop.call(listConversations)
  expect(body.total).toBe(1)
  return body.data[0]
}
const phone = '+5511987654321'

describe('what a contact writes', () => {
  let shop: Shop
  beforeAll(async () => {
    shop = await inboxShop()
  })

  test('begins a conversation, once however often the callback comes', async () => {
    const message = { phone, name: 'Rita', text: 'Olá!\nTudo bem?', providerMessageId: 'wamid.1' }
    await Promise.all([callback(shop, message), callback(shop, message)])
    await write(shop, message)
    expect(await only(shop)).toMatchObject({
      phone,
      contactName: 'Rita',
      status: 'open',
      unreadCount: 1,
      messageCount: 1,
      lastMessagePreview: 'Olá! Tudo bem?',
      lastMessageDirection: 'inbound',
      windowOpen: true,
      windowExpiresAt: '2026-11-21T12:00:00.000Z',
      waitingSince: '2026-11-20T12:00:00.000Z',
    })
  })

  test('an old spelling of the number is the same contact', async () => {
    await app.advance(60_000)
    await write(shop, { phone: '+551187654321', text: 'Sou eu de novo', providerMessageId: 'wamid.2' })
    expect(await only(shop)).toMatchObject({ phone: '+551187654321', unreadCount: 2 })
  })

  test('an older message counts, and takes its place without leading', async () => {
    await write(shop, {
      phone,
      text: 'antes',
      providerMessageId: 'wamid.3',
      occurredAt: new Date('2026-11-20T11:00:00.000Z'),
    })
    const conversation = await only(shop)
    expect(conversation).toMatchObject({ unreadCount: 3, lastMessagePreview: 'Sou eu de novo' })
    const { body } = await shop.call(listMessages, { params: { id: conversation.id } })
    expect(body.data.map((each: { text: string }) => each.text)).toEqual([
      'Sou eu de novo',
      'Olá!\nTudo bem?',
      'antes',
    ])
    expect(body.conversation.id).toBe(conversation.id)
  })

  test('closing settles it; a reaction leaves it closed; what is written opens it', async () => {
    const { id } = await only(shop)
    const closed = await shop.call(setStatus, { params: { id }, body: { status: 'closed' } })
    expect(closed.body).toMatchObject({ status: 'closed', unreadCount: 0, waitingSince: null })
    await write(shop, { phone, type: 'reaction', providerMessageId: 'wamid.4' })
    expect(await only(shop)).toMatchObject({ status: 'closed', unreadCount: 0 })
    await write(shop, { phone, text: 'Ainda aí?', providerMessageId: 'wamid.5' })
    expect(await only(shop)).toMatchObject({ status: 'open', unreadCount: 1, closedAt: null })
    expect((await shop.call(markRead, { params: { id }, body: {} })).body.unreadCount).toBe(0)
  })

  test('is found by its words, each within one message', async () => {
    await write(shop, { phone, text: 'Quero trocar o tamanho 42, não chegou', providerMessageId: 'wamid.6' })
    const total = async (search: string) =>
      (await shop.call(listConversations, { query: { search } })).body.total
    expect(await total('TROCAR tam')).toBe(1)
    expect(await total('nao cheg')).toBe(1)
    expect(await total('trocar bem')).toBe(0)
    expect(await total('rit')).toBe(1)
    expect(await total('8765-4321')).toBe(1)
    expect(await total('%_')).toBe(0)
    expect(await total('42')).toBe(1)
    expect(await total('4')).toBeUndefined()
  })

  test('walks by cursor, and refuses one of other filters', async () => {
    for (const digit of [1, 2, 3, 4, 5]) {
      await app.advance(1000)
      await write(shop, { phone: `+551199000000${digit}`, text: `n${digit}`, providerMessageId: `w${digit}` })
    }
    const met: string[] = []
    let cursor: string | null = null
    do {
      const query: Record<string, string | number> = { limit: 2, ...(cursor ? { cursor } : {}) }
      const { body } = await shop.call(listConversations, { query })
      expect(body.total).toBe(6)
      met.push(...body.data.map((each: { id: string }) => each.id))
      cursor = body.nextCursor
    } while (cursor)
    expect(new Set(met).size).toBe(6)
    const { body } = await shop.call(listConversations, { query: { limit: 2 } })
    const wrong = await shop.call(listConversations, { query: { cursor: body.nextCursor, status: 'open' } })
    expect(wrong.status).toBe(400)
    const both = await shop.call(listConversations, { query: { cursor: body.nextCursor, page: 2 } })
    expect(both.body.error.message).toContain('page')
  })

  test('of the same phone in another store is its own', async () => {
    const other = await inboxShop()
    await write(other, { phone, text: 'hi', providerMessageId: 'wamid.other' })
    const { id } = await only(other)
    expect((await shop.call(listMessages, { params: { id } })).status).toBe(404)
    expect((await shop.call(addTag, { params: { id }, body: { tagId: id } })).status).toBe(404)
  })
})
