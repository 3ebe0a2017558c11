/** Tenant isolation, and unusually large or strange input. */
import { beforeAll, describe, expect, test } from 'vitest'
import assign from '#operations/inbox/conversations/api/assign'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import listMembers from '#operations/inbox/conversations/api/list-members'
import markRead from '#operations/inbox/conversations/api/mark-read'
import markUnread from '#operations/inbox/conversations/api/mark-unread'
import nameContact from '#operations/inbox/conversations/api/name-contact'
import listMessages from '#operations/inbox/messages/api/list-messages'
import sendMessage from '#operations/inbox/messages/api/send-message'
import addNote from '#operations/inbox/notes/api/add-note'
import listNotes from '#operations/inbox/notes/api/list-notes'
import createQuickReply from '#operations/inbox/quick-replies/api/create-quick-reply'
import listQuickReplies from '#operations/inbox/quick-replies/api/list-quick-replies'
import addTag from '#operations/inbox/tags/api/add-tag'
import createTag from '#operations/inbox/tags/api/create-tag'
import updateTag from '#operations/inbox/tags/api/update-tag'
import saveTierSettings from '#operations/inbox/tiers/api/save-tier-settings'
import setTier from '#operations/inbox/tiers/api/set-tier'
import updateStore from '#operations/store/profile/api/update-store'
import type { Operation } from '#runtime/operation'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import { eachLater } from '#test/support/test-clock'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const phone = '+5511987654321'

describe('tenant isolation', () => {
  let shop: InboxShop
  let other: InboxShop
  let id: string
  let foreign: string
  beforeAll(async () => {
    shop = await inboxShop(app)
    other = await inboxShop(app)
    await shop.write({ phone, text: 'Oi' })
    await other.write({ phone, text: 'Oi' })
    id = (await shop.conversation()).id
    foreign = (await other.conversation()).id
  })

  test('ids of another store in a body are not found', async () => {
    const theirTag = (await other.call(createTag, { body: { name: 'VIP' } })).body
    const stranger = await other.person('member')
    const [theirs] = (await other.call(listMessages, { params: { id: foreign } })).body.data
    const reply = (await other.call(createQuickReply, { body: { shortcut: 'hi', text: 'Hi' } })).body
    const tries: [Operation, object][] = [
      [addTag, { tagId: theirTag.id }],
      [assign, { assigneeId: stranger.userId }],
      [addNote, { text: 'Look', mentions: [stranger.userId] }],
      [markRead, { upToMessageId: theirs.id }],
      [sendMessage, { type: 'text', text: 'x', replyToMessageId: theirs.id }],
      [sendMessage, { quickReplyId: reply.id }],
    ]
    for (const [operation, body] of tries) {
      const { status } = await shop.call(operation, { params: { id }, body })
      expect([operation.spec.path, body, status]).toEqual([operation.spec.path, body, 404])
    }
    expect((await shop.call(listNotes, { params: { id } })).body.total).toBe(0)
    const rendered = await shop.call(listQuickReplies, { query: { conversationId: foreign } })
    expect(rendered.status).toBe(404)
  })

  test('members of another store are not listed', async () => {
    const { body } = await shop.call(listMembers)
    expect(body.data).toEqual([
      {
        userId: shop.userId,
        name: 'Olivia Owner',
        email: shop.email,
        role: 'owner',
        openConversations: 0,
      },
    ])
  })
})

describe('large and strange input', () => {
  eachLater(app, 60_000)
  let shop: InboxShop
  beforeAll(async () => {
    shop = await inboxShop(app)
  })
  const total = async (search: string) =>
    (await shop.call(listConversations, { query: { search } })).body.total

  test('an inbound text of 100 KB is truncated to the limit; an outgoing one is refused', async () => {
    const words = Array.from({ length: 20_000 }, (_, n) => `p${n.toString(36)}`).join(' ')
    expect(words.length).toBeGreaterThan(90_000)
    await shop.write({ phone, name: 'n'.repeat(5000), text: words })
    const conversation = await shop.conversation()
    expect([...conversation.lastMessagePreview]).toHaveLength(121)
    expect(conversation.contactName).toHaveLength(200)
    const { body } = await shop.call(listMessages, { params: { id: conversation.id } })
    expect(body.data[0].text).toBe(words.slice(0, 4096))
    expect(await total('p7x p7y')).toBe(1)
    const sent = await shop.call(sendMessage, {
      params: { id: conversation.id },
      body: { type: 'text', text: words },
    })
    expect([sent.status, sent.body.error.message]).toEqual([400, expect.stringContaining('text')])
    await app.advance(1000)
    await shop.write({ phone, text: '😀'.repeat(30_000) })
    const [smiling] = (await shop.call(listMessages, { params: { id: conversation.id } })).body.data
    expect([...smiling.text]).toHaveLength(4096)
    expect(smiling.text.isWellFormed()).toBe(true)
  })

  test('a day with a repeated first hour starts at the first one', async () => {
    const before = app.clock.now()
    // Clocks in the Azores go back from 1:00 to midnight.
    await app.setClock('2027-10-31T00:30:00.000Z')
    const shop = await inboxShop(app)
    await shop.call(updateStore, { body: { timezone: 'Atlantic/Azores' } })
    await shop.write({ phone, text: 'Oi' })
    const found = async (day: string): Promise<number> =>
      (await shop.call(listConversations, { query: { startDate: day, endDate: day } })).body.total
    expect([await found('2027-10-30'), await found('2027-10-31')]).toEqual([0, 1])
    await app.setClock(before)
  })

  test('a name that consists of emoji only is a name', async () => {
    await shop.write({ phone: '+5511987650011', name: '😀❤️', text: 'Oi' })
    await shop.write({ phone: '+5511987650012', name: '   ', text: 'Oi' })
    const smiling = await shop.conversation('987650011')
    expect(smiling).toMatchObject({ contactName: '😀❤️', profileName: '😀❤️' })
    expect(await shop.conversation('987650012')).toMatchObject({ contactName: null, profileName: null })
    expect(await total('😀')).toBe(1)
    expect(await total('😀❤️')).toBe(1)
    // A search of accents only folds to an empty text.
    expect(await total('\u0301\u0302')).toBe(0)
    const reply = await shop.call(createQuickReply, {
      body: { shortcut: 'hi', text: 'Hi {{name}}, {{firstName}}!' },
    })
    const { body } = await shop.call(listQuickReplies, { query: { conversationId: smiling.id } })
    expect(body.data).toMatchObject([{ id: reply.body.id, rendered: 'Hi 😀❤️, 😀❤️!' }])
    const renamed = await shop.call(nameContact, { params: { id: smiling.id }, body: { name: '🐙' } })
    expect(renamed.body.contactName).toBe('🐙')
  })

  test('a given name stays and is searchable', async () => {
    const number = '+5511987650013'
    await shop.write({ phone: number, name: 'Zilda', text: 'Oi' })
    const { id } = await shop.conversation('987650013')
    const name = (value: string | null) => shop.call(nameContact, { params: { id }, body: { name: value } })
    const named = await name('Dona Zélia')
    await app.advance(1000)
    expect((await name('Dona Zélia')).body).toEqual(named.body)
    await shop.write({ phone: number, name: 'Zilda S', text: 'Oi' })
    expect(await shop.conversation('987650013')).toMatchObject({
      contactName: 'Dona Zélia',
      profileName: 'Zilda S',
    })
    expect([await total('zelia'), await total('zilda s')]).toEqual([1, 1])
    expect((await name(null)).body).toMatchObject({ contactName: 'Zilda S' })
    expect(await total('zelia')).toBe(0)
  })

  test('every kind of inbound message is shown, and opens the window only if it should', async () => {
    const number = '+5511987650014'
    const kinds = [
      'location',
      'contacts',
      'interactive',
      'sticker',
      'audio',
      'document',
      'video',
      'unheard-of',
    ]
    for (const type of kinds) {
      await app.advance(1000)
      await shop.write({ phone: number, type, text: 'x' })
    }
    const { id, lastMessagePreview } = await shop.conversation('987650014')
    expect(lastMessagePreview).toBe('[unsupported]')
    const { body } = await shop.call(listMessages, { params: { id } })
    expect(body.data.map((each: { type: string }) => each.type).reverse()).toEqual([
      ...kinds.slice(0, -1),
      'unsupported',
    ])
  })

  test('only inbound messages are unread; renaming a tag updates every conversation with it', async () => {
    const [first] = (await shop.call(listConversations)).body.data
    await shop.call(markRead, { params: { id: first.id }, body: {} })
    const unread = await shop.call(markUnread, { params: { id: first.id } })
    expect(unread.body.unreadCount).toBe(1)
    expect((await shop.call(markUnread, { params: { id: first.id } })).body).toEqual(unread.body)
    const { body: tag } = await shop.call(createTag, { body: { name: 'Later' } })
    await shop.call(addTag, { params: { id: first.id }, body: { tagId: tag.id } })
    await app.advance(1000)
    const since = app.clock.now().toISOString()
    await shop.call(updateTag, { params: { tagId: tag.id }, body: { name: 'Later' } })
    const changed = async () =>
      (await shop.call(listConversations, { query: { updatedSince: since } })).body.data
    expect(await changed()).toEqual([])
    await shop.call(updateTag, { params: { tagId: tag.id }, body: { name: 'Sooner' } })
    expect(await changed()).toMatchObject([{ id: first.id, tags: [{ name: 'Sooner' }] }])
    await app.drainJobs()
  })

  test('a manual tier whose key was deleted is computed again', async () => {
    const [first] = (await shop.call(listConversations)).body.data
    await shop.call(setTier, { params: { id: first.id }, body: { tier: 'platinum' } })
    const listed = async (tier: string) =>
      (await shop.call(listConversations, { query: { tier } })).body.total
    expect(await listed('platinum')).toBe(1)
    const tiers = [{ key: 'best', name: 'Best', color: '#000000', minPurchases: 1, minAmount: null }]
    expect((await shop.call(saveTierSettings, { body: { tiers } })).status).toBe(200)
    await app.drainJobs()
    expect(await listed('platinum')).toBe(0)
    const { data } = (await shop.call(listConversations, { query: { tier: 'none' } })).body
    expect(data.find((each: { id: string }) => each.id === first.id)).toMatchObject({
      tier: null,
      tierSource: 'automatic',
    })
  })
})
