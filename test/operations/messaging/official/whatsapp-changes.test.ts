/** Edits and deletions of inbound messages, in any order and while the inbox is off. */
import { beforeEach, describe, expect, test } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import listMessages from '#operations/inbox/messages/api/list-messages'
import disable from '#operations/inbox/switch/api/disable'
import enable from '#operations/inbox/switch/api/enable'
import type { Shop } from '#test/support/store'
import { whatsappApp } from '#test/support/whatsapp'

const { app, newNumber, withInbox, sendHook, metadata, seconds, wamid } = await whatsappApp()
beforeEach(newNumber)

const from = '5511966660077'
const receive = (...messages: object[]) =>
  sendHook('messages', {
    messaging_product: 'whatsapp',
    metadata: metadata(),
    contacts: [{ wa_id: from, profile: { name: 'Eva' } }],
    messages: messages.map((message) => ({ from, id: wamid(), timestamp: seconds(), ...message })),
  })
const written = (id: string, body: string, back = 60) => ({
  id,
  timestamp: seconds(back),
  type: 'text',
  text: { body },
})
const edited = (id: string, body: string, back: number) => ({
  timestamp: seconds(back),
  type: 'edit',
  edit: { original_message_id: id, message: { type: 'text', text: { body } } },
})
const deletion = (id: string, back: number) => ({
  timestamp: seconds(back),
  type: 'revoke',
  revoke: { original_message_id: id },
})
const shown = async (shop: Shop): Promise<string[]> => {
  const [conversation] = (await shop.call(listConversations)).body.data
  if (!conversation) return []
  const { data } = (await shop.call(listMessages, { params: { id: conversation.id } })).body
  return data.map((each: { text: string }) => each.text)
}
const deleted = 'This message was deleted by its sender'

describe('a message that was changed several times', () => {
  test('a message edited several times shows the latest edit, whatever arrived last', async () => {
    const shop = await withInbox()
    const id = wamid()
    await receive(written(id, 'one'))
    await receive(edited(id, 'three', 10))
    await receive(edited(id, 'two', 20))
    expect(await shown(shop)).toEqual(['three'])
    const found = async (search: string) =>
      (await shop.call(listConversations, { query: { search } })).body.total
    expect([await found('three'), await found('one')]).toEqual([1, 0])
    const [conversation] = (await shop.call(listConversations)).body.data
    expect(conversation).toMatchObject({ messageCount: 1, lastMessagePreview: 'three' })
  })

  test('a deleted message stays deleted', async () => {
    const shop = await withInbox()
    const id = wamid()
    await receive(written(id, 'one'))
    await receive(deletion(id, 20))
    await receive(edited(id, 'two', 10))
    await receive(edited(id, 'three', 30))
    expect(await shown(shop)).toEqual([deleted])
  })

  test('changes that arrive before their message apply, in one body or in several', async () => {
    const shop = await withInbox()
    const [id, other] = [wamid(), wamid()]
    await receive(edited(id, 'three', 10), edited(id, 'two', 20), deletion(other, 5))
    await receive(written(id, 'one'), written(other, 'secret'))
    await app.advance(2_000)
    await app.drainJobs()
    expect((await shown(shop)).sort()).toEqual([deleted, 'three'])
  })
})

test('changes made while the inbox was off are applied when it is on', async () => {
  const shop = await withInbox()
  await shop.call(disable)
  const [kept, id, gone] = [wamid(), wamid(), wamid()]
  await receive(written(kept, 'kept'), written(id, 'one', 50), written(gone, 'secret', 40))
  await receive(edited(id, 'three', 10), deletion(gone, 5))
  await receive(edited(id, 'two', 20))
  await shop.call(enable, { body: {} })
  await app.drainJobs()
  expect((await shown(shop)).sort()).toEqual([deleted, 'kept', 'three'])
})
