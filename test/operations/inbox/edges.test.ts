/** What is another store's, and what is larger or stranger than one expects. */
import { beforeAll, describe, expect, test } from 'vitest'
import assign from '#operations/inbox/conversations/api/assign'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import listMembers from '#operations/inbox/conversations/api/list-members'
import markRead from '#operations/inbox/conversations/api/mark-read'
import markUnread from '#operations/inbox/conversations/api/mark-unread'
import nameContact from '#operations/inbox/conversations/api/name-contact'
import listMessages from '#operations/inbox/messages/api/list-messages'
import sendMessage from '#operations/inbox/messages/api/send-message'
import uploadMedia from '#operations/inbox/messages/api/upload-media'
import addNote from '#operations/inbox/notes/api/add-note'
import deleteNote from '#operations/inbox/notes/api/delete-note'
import listNotes from '#operations/inbox/notes/api/list-notes'
import createQuickReply from '#operations/inbox/quick-replies/api/create-quick-reply'
import deleteQuickReply from '#operations/inbox/quick-replies/api/delete-quick-reply'
import listQuickReplies from '#operations/inbox/quick-replies/api/list-quick-replies'
import addTag from '#operations/inbox/tags/api/add-tag'
import createTag from '#operations/inbox/tags/api/create-tag'
import deleteTag from '#operations/inbox/tags/api/delete-tag'
import listTags from '#operations/inbox/tags/api/list-tags'
import removeTag from '#operations/inbox/tags/api/remove-tag'
import updateTag from '#operations/inbox/tags/api/update-tag'
import saveTierSettings from '#operations/inbox/tiers/api/save-tier-settings'
import setTier from '#operations/inbox/tiers/api/set-tier'
import updateStore from '#operations/store/profile/api/update-store'
import { makeTemplate } from '#scripts/seed/connect-number'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import { eachLater } from '#test/support/test-clock'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const phone = '+5511987654321'

async function upload(shop: InboxShop, fileName = 'photo.png'): Promise<string> {
  const bytes = Buffer.from('89504e470d0a1a0a', 'hex')
  const body = { fileName, contentType: 'image/png', size: bytes.length }
  const { body: made } = await shop.call(uploadMedia, { body })
  const put = await app.services.adapters.files!(
    new Request(made.uploadUrl, { method: 'PUT', headers: made.headers, body: bytes }),
  )
  expect(put.status).toBeLessThan(300)
  return made.fileUrl
}

describe('of another store', () => {
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

  test('tags are not put on, changed or taken off', async () => {
    const own = (await shop.call(createTag, { body: { name: 'VIP' } })).body
    const theirs = (await other.call(createTag, { body: { name: 'VIP' } })).body
    await other.call(addTag, { params: { id: foreign }, body: { tagId: theirs.id } })
    const strange = await shop.call(addTag, { params: { id }, body: { tagId: theirs.id } })
    expect([strange.status, strange.body.error.message]).toEqual([404, expect.stringContaining('tagId')])
    const params = { tagId: theirs.id }
    expect((await shop.call(updateTag, { params, body: { name: 'Mine' } })).status).toBe(404)
    expect((await shop.call(deleteTag, { params })).status).toBe(404)
    expect((await shop.call(removeTag, { params: { id, ...params } })).status).toBe(404)
    expect((await shop.call(deleteTag, { params: { tagId: own.id } })).status).toBe(204)
    expect((await other.call(listTags)).body.data).toMatchObject([{ name: 'VIP', conversationCount: 1 }])
  })

  test('members are not assigned, mentioned or shown', async () => {
    const stranger = await other.person('member')
    const assigned = await shop.call(assign, { params: { id }, body: { assigneeId: stranger.userId } })
    expect(assigned.status).toBe(404)
    const note = { text: 'Look', mentions: [stranger.userId] }
    expect((await shop.call(addNote, { params: { id }, body: note })).status).toBe(404)
    expect((await shop.call(listNotes, { params: { id } })).body.total).toBe(0)
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

  test('messages, notes, quick replies and templates are not found', async () => {
    const [theirs] = (await other.call(listMessages, { params: { id: foreign } })).body.data
    const text = { type: 'text', text: 'x' }
    const send = (body: object) => shop.call(sendMessage, { params: { id }, body })
    expect((await send({ ...text, replyToMessageId: theirs.id })).status).toBe(404)
    expect((await shop.call(markRead, { params: { id }, body: { upToMessageId: theirs.id } })).status).toBe(
      404,
    )
    const note = (await other.call(addNote, { params: { id: foreign }, body: { text: 'x' } })).body
    expect((await shop.call(deleteNote, { params: { noteId: note.id } })).status).toBe(404)
    const reply = (await other.call(createQuickReply, { body: { shortcut: 'hi', text: 'Hi' } })).body
    expect((await shop.call(deleteQuickReply, { params: { id: reply.id } })).status).toBe(404)
    expect((await send({ quickReplyId: reply.id })).status).toBe(404)
    const template = await makeTemplate(await other.context(), { name: 'hello', body: 'Hi' })
    expect((await send({ type: 'template', officialapiTemplateId: template })).status).toBe(404)
    for (const path of ['messages', 'notes', 'orders', 'automations', 'reviews']) {
      const answer = await shop.request('GET', `/inbox/conversations/${foreign}/${path}`)
      expect([path, answer.status]).toEqual([path, 404])
    }
    const rendered = await shop.call(listQuickReplies, { query: { conversationId: foreign } })
    expect(rendered.status).toBe(404)
  })

  test('files are refused, and so is what is no upload for the inbox', async () => {
    const theirs = await upload(other)
    const own = await upload(shop)
    const avatar = own.replace(/[^/]+$/, 'other.png')
    for (const mediaUrl of [theirs, avatar, 'https://elsewhere.example/a.png', 'nope']) {
      const body = { type: 'image', mediaUrl }
      const sent = await shop.call(sendMessage, { params: { id }, body })
      expect([sent.status, sent.body.error.message]).toEqual([400, expect.stringContaining('mediaUrl')])
      const reply = await shop.call(createQuickReply, { body: { shortcut: 'pic', text: 'Hi', mediaUrl } })
      expect([reply.status, reply.body.error.message]).toEqual([400, expect.stringContaining('mediaUrl')])
    }
    const body = { type: 'image', mediaUrl: own, text: 'Look' }
    expect((await shop.call(sendMessage, { params: { id }, body })).status).toBe(201)
    await app.drainJobs()
  })
})

describe('large and strange', () => {
  eachLater(app, 60_000)
  let shop: InboxShop
  beforeAll(async () => {
    shop = await inboxShop(app)
  })
  const total = async (search: string) =>
    (await shop.call(listConversations, { query: { search } })).body.total

  test('a text of 100 KB that comes in is cut at what a message may have; one that goes out is refused', async () => {
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

  test('a day that has its first hour twice begins at the first', async () => {
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

  test('a name of emoji alone is a name', async () => {
    await shop.write({ phone: '+5511987650011', name: '😀❤️', text: 'Oi' })
    await shop.write({ phone: '+5511987650012', name: '   ', text: 'Oi' })
    const smiling = await shop.conversation('987650011')
    expect(smiling).toMatchObject({ contactName: '😀❤️', profileName: '😀❤️' })
    expect(await shop.conversation('987650012')).toMatchObject({ contactName: null, profileName: null })
    expect(await total('😀')).toBe(1)
    expect(await total('😀❤️')).toBe(1)
    // A mark alone is in every name, once marks are taken off.
    expect(await total('\u0301\u0302')).toBe(0)
    const reply = await shop.call(createQuickReply, {
      body: { shortcut: 'hi', text: 'Hi {{name}}, {{firstName}}!' },
    })
    const { body } = await shop.call(listQuickReplies, { query: { conversationId: smiling.id } })
    expect(body.data).toMatchObject([{ id: reply.body.id, rendered: 'Hi 😀❤️, 😀❤️!' }])
    const renamed = await shop.call(nameContact, { params: { id: smiling.id }, body: { name: '🐙' } })
    expect(renamed.body.contactName).toBe('🐙')
  })

  test('a name by hand stays, and is what is looked for', async () => {
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

  test('what the network sends of every kind is shown, and opens no more than it should', async () => {
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

  test('unread is for who wrote; a rename is news of every conversation with the tag', async () => {
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

  test('a tier by hand whose key is gone is computed again', async () => {
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
