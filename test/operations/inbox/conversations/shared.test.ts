/** Sharing the inbox in a team (rule 10). */
import { beforeAll, describe, expect, test } from 'vitest'
import assign from '#operations/inbox/conversations/api/assign'
import markRead from '#operations/inbox/conversations/api/mark-read'
import listMessages from '#operations/inbox/messages/api/list-messages'
import addNote from '#operations/inbox/notes/api/add-note'
import deleteNote from '#operations/inbox/notes/api/delete-note'
import addTag from '#operations/inbox/tags/api/add-tag'
import createTag from '#operations/inbox/tags/api/create-tag'
import deleteTag from '#operations/inbox/tags/api/delete-tag'
import updateTag from '#operations/inbox/tags/api/update-tag'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import type { Person } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const phone = '+5511987654321'

describe('a shared conversation', () => {
  let shop: InboxShop
  let ada: Person
  let marco: Person
  let id: string
  beforeAll(async () => {
    shop = await inboxShop(app)
    ada = await shop.person('agent')
    marco = await shop.person('member')
    await shop.write({ phone, text: 'Oi' })
    id = (await shop.conversation()).id
  })

  test('the first of two claims gets the conversation, and only the assignee is notified', async () => {
    const claim = (person: Person) =>
      shop.call(assign, {
        params: { id },
        key: person.key,
        body: { assigneeId: person.userId, onlyIfUnassigned: true },
      })
    const answers = await Promise.all([claim(ada), claim(marco)])
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409])
    await shop.call(assign, { params: { id }, body: { assigneeId: null } })
    await shop.call(assign, { params: { id }, key: marco.key, body: { assigneeId: ada.userId } })
    const ctx = await shop.context()
    const notices = await ctx.db
      .selectFrom('notifications')
      .select('recipient_ids')
      .where('type', '=', 'inbox-assigned')
      .execute()
    expect(notices).toEqual([{ recipient_ids: [ada.userId] }])
    const stranger = await shop.call(assign, { params: { id }, body: { assigneeId: shop.id } })
    expect(stranger.status).toBe(404)
  })

  test('an agent deletes only their own notes, a member any', async () => {
    const note = async (person: Person): Promise<string> =>
      (await shop.call(addNote, { params: { id }, key: person.key, body: { text: 'Note' } })).body.id
    const [own, other, last] = [await note(ada), await note(marco), await note(ada)]
    const remove = async (noteId: string, person: Person) =>
      (await shop.call(deleteNote, { params: { noteId }, key: person.key })).status
    expect(await remove(own, ada)).toBe(204)
    expect(await remove(other, ada)).toBe(403)
    expect(await remove(last, marco)).toBe(204)
    expect(await remove(last, marco)).toBe(404)
  })

  test('tag names are unique without case, and changes show on every conversation', async () => {
    const { body: vip } = await shop.call(createTag, { body: { name: 'VIP' } })
    expect(vip).toMatchObject({ name: 'VIP', color: '#6b7280', conversationCount: 0 })
    expect((await shop.call(createTag, { body: { name: ' vip ' } })).status).toBe(409)
    const tagged = await shop.call(addTag, { params: { id }, key: ada.key, body: { tagId: vip.id } })
    expect(tagged.body.tags).toMatchObject([{ id: vip.id, name: 'VIP' }])
    await shop.call(updateTag, { params: { tagId: vip.id }, body: { name: 'Gold' } })
    expect((await shop.conversation()).tags).toMatchObject([{ name: 'Gold' }])
    expect((await shop.call(deleteTag, { params: { tagId: vip.id } })).status).toBe(204)
    expect((await shop.conversation()).tags).toEqual([])
    expect((await shop.call(deleteTag, { params: { tagId: vip.id } })).status).toBe(404)
  })

  test('reading up to the second-newest message leaves one unread', async () => {
    await app.advance(1000)
    await shop.write({ phone, text: 'one more' })
    await app.advance(1000)
    await shop.write({ phone, text: 'and one' })
    const { body } = await shop.call(listMessages, { params: { id } })
    const read = await shop.call(markRead, { params: { id }, body: { upToMessageId: body.data[1].id } })
    expect(read.body.unreadCount).toBe(1)
    await app.drainJobs()
  })

  test('an inbound file is copied into our storage', async () => {
    await shop.write({ phone, type: 'image', text: 'Look' })
    const { body } = await shop.call(listMessages, { params: { id }, query: { type: 'image' } })
    expect(body.data).toMatchObject([
      { type: 'image', text: 'Look', media: { status: 'ready', contentType: 'image/png' } },
    ])
    const fetched = await app.services.adapters.files!(new Request(body.data[0].media.url))
    expect(fetched.status).toBe(200)
    expect((await fetched.arrayBuffer()).byteLength).toBe(body.data[0].media.size)
  })
})
