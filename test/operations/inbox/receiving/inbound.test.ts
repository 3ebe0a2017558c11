/** Inbound messages and their conversations (rule 3). */
import { beforeAll, describe, expect, test } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import markRead from '#operations/inbox/conversations/api/mark-read'
import setStatus from '#operations/inbox/conversations/api/set-status'
import listMessages from '#operations/inbox/messages/api/list-messages'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const phone = '+5511987654321'

describe('inbound messages', () => {
  let shop: InboxShop
  beforeAll(async () => {
    shop = await inboxShop(app)
  })

  test('a message creates a conversation once, however often the callback arrives', async () => {
    const message = { phone, name: 'Rita', text: 'Olá!\nTudo bem?', providerMessageId: 'wamid.1' }
    await Promise.all([shop.callback(message), shop.callback(message)])
    await shop.write(message)
    expect(await shop.conversation()).toMatchObject({
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

  test('an old spelling of the number matches the same contact', async () => {
    await app.advance(60_000)
    await shop.write({ phone: '+551187654321', text: 'Sou eu de novo', providerMessageId: 'wamid.2' })
    expect(await shop.conversation()).toMatchObject({ phone: '+551187654321', unreadCount: 2 })
  })

  test('an older message counts and is inserted in order without leading', async () => {
    await shop.write({
      phone,
      text: 'antes',
      providerMessageId: 'wamid.3',
      occurredAt: new Date('2026-11-20T11:00:00.000Z'),
    })
    const conversation = await shop.conversation()
    expect(conversation).toMatchObject({ unreadCount: 3, lastMessagePreview: 'Sou eu de novo' })
    const { body } = await shop.call(listMessages, { params: { id: conversation.id } })
    expect(body.data.map((each: { text: string }) => each.text)).toEqual([
      'Sou eu de novo',
      'Olá!\nTudo bem?',
      'antes',
    ])
    expect(body.conversation.id).toBe(conversation.id)
  })

  test('closing ends the waiting; a reaction keeps it closed; a message reopens it', async () => {
    const { id } = await shop.conversation()
    const closed = await shop.call(setStatus, { params: { id }, body: { status: 'closed' } })
    expect(closed.body).toMatchObject({ status: 'closed', unreadCount: 0, waitingSince: null })
    await shop.write({ phone, type: 'reaction', providerMessageId: 'wamid.4' })
    expect(await shop.conversation()).toMatchObject({ status: 'closed', unreadCount: 0 })
    await shop.write({ phone, text: 'Ainda aí?', providerMessageId: 'wamid.5' })
    expect(await shop.conversation()).toMatchObject({ status: 'open', unreadCount: 1, closedAt: null })
    expect((await shop.call(markRead, { params: { id }, body: {} })).body.unreadCount).toBe(0)
  })

  test('a conversation is found by words that occur in one message', async () => {
    await shop.write({ phone, text: 'Quero trocar o tamanho 42, não chegou', providerMessageId: 'wamid.6' })
    const total = async (search: string) =>
      (await shop.call(listConversations, { query: { search } })).body.total
    expect(await total('TROCAR tam')).toBe(1)
    expect(await total('nao cheg')).toBe(1)
    expect(await total('trocar bem')).toBe(0)
    expect(await total('rit')).toBe(1)
    expect(await total('8765-4321')).toBe(1)
    expect(await total('%_')).toBe(0)
    expect(await total('42')).toBe(1)
    // One character is a word of its own.
    expect(await total('4')).toBe(0)
  })

  test('messages are paginated by cursor, and a cursor of other filters is refused', async () => {
    for (const digit of [1, 2, 3, 4, 5]) {
      await app.advance(1000)
      await shop.write({ phone: `+551199000000${digit}`, text: `n${digit}`, providerMessageId: `w${digit}` })
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
})
