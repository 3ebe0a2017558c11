/** What happens to a conversation while something else of it is being written. */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import { giveName, nameFromAddressBook } from '#operations/inbox/conversations/contacts'
import { forgetsConversations } from '#operations/inbox/forgetting/forget'
import listMessages from '#operations/inbox/messages/api/list-messages'
import { changeMessage } from '#operations/inbox/receiving/changed'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import { untilWaiting } from '#test/support/waits'

const app = await testApp()
const phone = '+5511987654321'

beforeEach(() => app.setClock('2026-11-20T12:00:00.000Z'))

describe('a picture, while its file is on the way to our storage', () => {
  const { storage } = app.services.adapters
  const pictureOf = (shop: InboxShop) => `w.picture-${shop.slug}`
  /** The file has been fetched, and is about to be kept. */
  async function whileKept(shop: InboxShop, happens: (tx: Context) => Promise<unknown>): Promise<void> {
    const write = storage.write.bind(storage)
    const spy = vi.spyOn(storage, 'write').mockImplementationOnce(async (...given) => {
      await (await shop.context()).transaction(happens)
      return write(...given)
    })
    await shop.write({ phone, name: 'Rita', type: 'image', text: 'Look', providerMessageId: pictureOf(shop) })
    expect(spy).toHaveBeenCalledOnce()
    spy.mockRestore()
  }
  const uses = async (shop: InboxShop) =>
    (await shop.context()).db.selectFrom('file_uses').select('owner').execute()

  test('is taken back by its sender: nothing of it is shown, and nobody keeps the file', async () => {
    const shop = await inboxShop(app)
    await whileKept(shop, (tx) => changeMessage(tx, { providerMessageId: pictureOf(shop), change: null }))
    const { id } = await shop.conversation()
    expect((await shop.call(listMessages, { params: { id } })).body.data).toMatchObject([
      { type: 'unsupported', text: 'This message was deleted by its sender', media: null },
    ])
    expect(await uses(shop)).toEqual([])
  })

  test('is of somebody who wants to be forgotten: nobody keeps the file', async () => {
    const shop = await inboxShop(app)
    await whileKept(shop, (tx) =>
      forgetsConversations.forget(tx, {
        ...{ customerId: null, emailKeys: [], orderIds: [], names: [] },
        phoneKeys: [phoneKey(phone)],
      }),
    )
    expect((await shop.call(listConversations)).body.total).toBe(0)
    expect(await uses(shop)).toEqual([])
  })
})

describe('a contact that the merchant names at this moment', () => {
  /** Under way: the name is written, and not there yet for anybody else. */
  async function whileNamed(shop: InboxShop, come: () => Promise<unknown>): Promise<void> {
    const ctx = await shop.context()
    const { id } = await ctx.db.selectFrom('contacts').select('id').executeTakeFirstOrThrow()
    let coming: Promise<unknown> | undefined
    await ctx.transaction(async (tx) => {
      await giveName(tx, id, 'Atacado Silva')
      coming = come()
      await untilWaiting(app)
    })
    await coming
  }
  const found = async (shop: InboxShop, search: string) =>
    (await shop.call(listConversations, { query: { search } })).body.data.map(
      (each: { contactName: string }) => each.contactName,
    )

  test('is found by both names where they write under another one', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, name: 'Rita', text: 'Oi' })
    await shop.callback({ phone, name: 'Rita Souza', text: 'Oi de novo' })
    await whileNamed(shop, () => app.drainJobs())
    expect(await found(shop, 'atacado')).toEqual(['Atacado Silva'])
    expect(await found(shop, 'souza')).toEqual(['Atacado Silva'])
  })

  test('keeps that name where the address book has another one', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, name: 'Rita', text: 'Oi' })
    await whileNamed(shop, async () =>
      (await shop.context()).transaction((tx) => nameFromAddressBook(tx, { phone, name: 'Rita da feira' })),
    )
    expect(await found(shop, 'atacado')).toEqual(['Atacado Silva'])
    expect(await found(shop, 'feira')).toEqual([])
  })
})
