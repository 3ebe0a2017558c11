/** Concurrent actions of the team, and callbacks that are late, repeated or out of order. */
import { beforeAll, describe, expect, test } from 'vitest'
import assign from '#operations/inbox/conversations/api/assign'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import pin from '#operations/inbox/conversations/api/pin'
import setStatus from '#operations/inbox/conversations/api/set-status'
import listMessages from '#operations/inbox/messages/api/list-messages'
import sendMessage from '#operations/inbox/messages/api/send-message'
import addTag from '#operations/inbox/tags/api/add-tag'
import createTag from '#operations/inbox/tags/api/create-tag'
import deleteTag from '#operations/inbox/tags/api/delete-tag'
import listTags from '#operations/inbox/tags/api/list-tags'
import removeTag from '#operations/inbox/tags/api/remove-tag'
import setTier from '#operations/inbox/tiers/api/set-tier'
import removeMember from '#operations/store/team/api/remove-member'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import type { Answer, Person } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'
import { untilWaiting } from '#test/support/waits'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')
const phone = '+5511987654321'
const statuses = (answers: Answer[]): number[] => answers.map((each) => each.status).sort()
const numbered = (n: number): string => `+55119876${String(10_000 + n)}`

describe('concurrent actions of two members', () => {
  let shop: InboxShop
  let ada: Person
  let marco: Person
  let id: string
  beforeAll(async () => {
    shop = await inboxShop(app)
    ada = await shop.person('agent')
    marco = await shop.person('member')
    await shop.write({ phone, name: 'Rita', text: 'Oi' })
    id = (await shop.conversation()).id
  })
  const both = (call: (person: Person) => Promise<Answer>) => Promise.all([call(ada), call(marco)])
  const notices = async (type: string) =>
    (await shop.context()).db
      .selectFrom('notifications')
      .select('recipient_ids')
      .where('type', '=', type)
      .execute()

  test('closing twice: the second changes nothing', async () => {
    const close = (person: Person) =>
      shop.call(setStatus, { params: { id }, key: person.key, body: { status: 'closed' } })
    const [one, other] = await both(close)
    expect([one.status, other.status]).toEqual([200, 200])
    expect(one.body).toEqual(other.body)
    const before = await shop.conversation()
    await app.advance(1000)
    expect((await close(ada)).body).toEqual(before)
    await shop.call(setStatus, { params: { id }, body: { status: 'open' } })
  })

  test('assigning to themselves: the last one wins, and nobody is notified', async () => {
    const take = (person: Person) =>
      shop.call(assign, { params: { id }, key: person.key, body: { assigneeId: person.userId } })
    const answers = await both(take)
    expect(statuses(answers)).toEqual([200, 200])
    const { assigneeId } = await shop.conversation()
    expect([ada.userId, marco.userId]).toContain(assigneeId)
    expect(await notices('inbox-assigned')).toEqual([])
  })

  test('adding and removing a tag happens once each', async () => {
    const { body: tag } = await shop.call(createTag, { body: { name: 'Delivery' } })
    const add = (person: Person) =>
      shop.call(addTag, { params: { id }, key: person.key, body: { tagId: tag.id } })
    expect(statuses(await both(add))).toEqual([200, 200])
    const { body } = await shop.call(listTags)
    expect(body.data).toMatchObject([{ id: tag.id, conversationCount: 1 }])
    const remove = (person: Person) =>
      shop.call(removeTag, { params: { id, tagId: tag.id }, key: person.key })
    expect(statuses(await both(remove))).toEqual([204, 404])
    const [added, deleted] = await Promise.all([
      add(ada),
      shop.call(deleteTag, { params: { tagId: tag.id } }),
    ])
    expect([200, 404]).toContain(added.status)
    expect(deleted.status).toBe(204)
    expect((await shop.conversation()).tags).toEqual([])
  })

  test('creating the hundredth tag twice: the 101st is refused', async () => {
    const other = await inboxShop(app)
    const ctx = await other.context()
    const now = app.clock.now()
    await ctx.db
      .insertInto('inbox_tags')
      .values(
        Array.from({ length: 99 }, (_, n) => ({
          id: ctx.newId(),
          name: `Tag ${n}`,
          color: '#000000',
          created_at: now,
          updated_at: now,
        })),
      )
      .execute()
    const answers = await Promise.all(['one', 'two'].map((name) => other.call(createTag, { body: { name } })))
    expect(statuses(answers)).toEqual([201, 409])
    expect(answers.find((each) => each.status === 409)!.body.error.message).toContain('100')
    await other.write({ phone, text: 'Oi' })
    const own = (await other.conversation()).id
    const tags = (await other.call(listTags)).body.data
    for (const tag of tags.slice(0, 20)) {
      expect((await other.call(addTag, { params: { id: own }, body: { tagId: tag.id } })).status).toBe(200)
    }
    const more = await other.call(addTag, { params: { id: own }, body: { tagId: tags[20].id } })
    expect([more.status, more.body.error.message]).toEqual([409, expect.stringContaining('20')])
    const again = await other.call(addTag, { params: { id: own }, body: { tagId: tags[0].id } })
    expect(again.status).toBe(200)
  })

  /** A shop with 49 pinned conversations and two more. */
  async function nearlyPinned() {
    const other = await inboxShop(app)
    for (let n = 0; n < 51; n += 1) await other.callback({ phone: numbered(n), text: 'Oi' })
    await app.drainJobs()
    const { body } = await other.call(listConversations, { query: { limit: 100 } })
    const ids: string[] = body.data.map((each: { id: string }) => each.id)
    await (await other.context()).db
      .updateTable('conversations')
      .set({ pinned_at: app.clock.now() })
      .where('id', 'in', ids.slice(0, 49))
      .execute()
    const keep = (conversationId: string, pinned = true, headers: Record<string, string> = {}) =>
      other.call(pin, { params: { id: conversationId }, body: { pinned }, headers })
    const pinned = async () =>
      (await other.call(listConversations, { query: { pinned: true } })).body.total as number
    return { other, ids, last: ids.slice(49), keep, pinned }
  }

  test.runIf(isFullSuite)('pinning the fiftieth twice: the 51st is refused', async () => {
    const { ids, last, keep, pinned } = await nearlyPinned()
    expect(statuses(await Promise.all(last.map((each) => keep(each))))).toEqual([200, 409])
    expect(await pinned()).toBe(50)
    expect((await keep(ids[0]!, false)).body).toMatchObject({ pinned: false, pinnedAt: null })
  })

  test.runIf(isFullSuite)(
    'pinning the fiftieth twice with if-match: the 51st is refused with the limit',
    async () => {
      const { other, last, keep, pinned } = await nearlyPinned()
      const tags = await Promise.all(last.map(async (each) => (await keep(each, false)).headers.get('etag')!))
      const ctx = await other.context()
      let both: Promise<Answer[]> | undefined
      await ctx.transaction(async (tx) => {
        await tx.lockStore()
        both = Promise.all(last.map((each, at) => keep(each, true, { 'if-match': tags[at]! })))
        await untilWaiting(app, 2)
      })
      const answers = await both!
      expect(statuses(answers)).toEqual([200, 409])
      expect(answers.find(({ status }) => status === 409)!.body.error.message).toContain('50 conversations')
      expect(await pinned()).toBe(50)
    },
  )

  test('assigning to a member who is being removed leaves it unassigned', async () => {
    const leaver = await shop.person('agent')
    const [assigned, removed] = await Promise.all([
      shop.call(assign, { params: { id }, body: { assigneeId: leaver.userId } }),
      shop.call(removeMember, { params: { userId: leaver.userId } }),
    ])
    expect([200, 404]).toContain(assigned.status)
    expect(removed.status).toBe(204)
    expect((await shop.conversation()).assigneeId).not.toBe(leaver.userId)
    const late = await shop.call(assign, { params: { id }, body: { assigneeId: leaver.userId } })
    expect(late.status).toBe(404)
  })

  test('a closed conversation of a removed member is unassigned once it reopens', async () => {
    const leaver = await shop.person('agent')
    await shop.call(assign, { params: { id }, body: { assigneeId: leaver.userId } })
    await shop.call(setStatus, { params: { id }, body: { status: 'closed' } })
    await shop.call(removeMember, { params: { userId: leaver.userId } })
    expect((await shop.conversation()).assigneeId).toBe(leaver.userId)
    await app.advance(1000)
    await shop.write({ phone, text: 'Ainda aí?' })
    expect(await shop.conversation()).toMatchObject({ status: 'open', assigneeId: null, assignee: null })
  })

  test('sending, naming, setting a tier and writing at once do not deadlock', async () => {
    const body = { type: 'text', text: 'Hello' }
    const answers = await Promise.all([
      ...[1, 2, 3, 4].map(() => shop.call(sendMessage, { params: { id }, body })),
      shop.request('POST', `/inbox/conversations/${id}/name`, { body: { name: 'Rita M' } }),
      shop.call(setTier, { params: { id }, body: { tier: 'gold' } }),
      shop.callback({ phone, name: 'Rita again', text: 'Oi' }).then(() => ({ status: 200 })),
      app.worker.drain().then(() => ({ status: 200 })),
    ])
    expect(answers.map((each) => each.status)).toEqual([201, 201, 201, 201, 200, 200, 200, 200])
    await app.drainJobs()
    expect(await shop.conversation()).toMatchObject({
      contactName: 'Rita M',
      profileName: 'Rita again',
      tier: 'gold',
      tierSource: 'manual',
    })
  })
})

describe('callbacks', () => {
  test('callbacks of a message with an unknown result are applied', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, text: 'Oi' })
    const { id } = await shop.conversation()
    const { body } = await shop.call(sendMessage, { params: { id }, body: { type: 'text', text: 'Hi' } })
    await app.drainJobs()
    const [sent] = (await shop.call(listMessages, { params: { id } })).body.data
    expect(sent.id).toBe(body.id)
    const wamid = sent.providerMessageId
    await Promise.all([shop.status(wamid, 'read'), shop.status(wamid, 'delivered')])
    await shop.status(wamid, 'failed')
    await shop.status(wamid, 'sent')
    const [after] = (await shop.call(listMessages, { params: { id } })).body.data
    expect(after).toMatchObject({ status: 'read', error: null, failedAt: null })
    expect(await shop.conversation()).toMatchObject({ lastMessageStatus: 'read' })
    expect(await shop.usage()).toEqual({ used: 1, reserved: 0 })
  })

  test('concurrent first messages of two phones, one of them twice, create two conversations', async () => {
    const shop = await inboxShop(app)
    await Promise.all([
      shop.callback({ phone, name: 'Rita', text: 'one', providerMessageId: 'a' }),
      shop.callback({ phone: '+551187654321', text: 'two', providerMessageId: 'b' }),
      shop.callback({ phone: '+5511987650000', text: 'three', providerMessageId: 'c' }),
      shop.callback({ phone, name: 'Rita', text: 'one', providerMessageId: 'a' }),
    ])
    await Promise.all([app.worker.drain(), app.worker.drain()])
    await app.drainJobs()
    const { body } = await shop.call(listConversations)
    expect(body.data.map((each: { messageCount: number }) => each.messageCount).sort()).toEqual([1, 2])
  })
})
