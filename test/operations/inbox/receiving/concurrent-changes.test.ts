/** Concurrent changes to a conversation. */
import { beforeEach, describe, expect, test, vi } from 'vitest'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import { applyAddressBookName, giveName } from '#operations/inbox/conversations/contacts'
import { conversationErasure } from '#operations/inbox/erasure/erasure'
import listMessages from '#operations/inbox/messages/api/list-messages'
import { changeMessage } from '#operations/inbox/receiving/message-changes'
import type { Context } from '#runtime/context'
import { phoneKey } from '#runtime/values/phone'
import { testApp } from '#test/support/app'
import { type InboxShop, inboxShop } from '#test/support/inbox'
import { untilWaiting } from '#test/support/waits'

const app = await testApp()
const phone = '+5511987654321'

beforeEach(() => app.setClock('2026-11-20T12:00:00.000Z'))

describe('a picture whose file is being copied', () => {
  const { storage } = app.services.adapters
  const pictureOf = (shop: InboxShop) => `w.picture-${shop.slug}`
  /** Runs a callback after the file was fetched and before it is stored. */
  async function beforeFileStored(
    shop: InboxShop,
    happens: (tx: Context) => Promise<unknown>,
  ): Promise<void> {
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

  test('deleted by its sender: it is not shown and the file is not kept', async () => {
    const shop = await inboxShop(app)
    await beforeFileStored(shop, (tx) =>
      changeMessage(tx, { providerMessageId: pictureOf(shop), change: null }),
    )
    const { id } = await shop.conversation()
    expect((await shop.call(listMessages, { params: { id } })).body.data).toMatchObject([
      { type: 'unsupported', text: 'This message was deleted by its sender', media: null },
    ])
    expect(await uses(shop)).toEqual([])
  })

  test('belonging to a person being erased: the file is not kept', async () => {
    const shop = await inboxShop(app)
    await beforeFileStored(shop, (tx) =>
      conversationErasure.erase(tx, {
        ...{ customerId: null, emailKeys: [], orderIds: [], names: [] },
        phoneKeys: [phoneKey(phone)],
      }),
    )
    expect((await shop.call(listConversations)).body.total).toBe(0)
    expect(await uses(shop)).toEqual([])
  })
})

describe('a contact that the merchant is naming', () => {
  /** Runs a callback while the name is written but not committed. */
  async function duringNaming(shop: InboxShop, come: () => Promise<unknown>): Promise<void> {
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

  test('the contact is found by both names if they write under another one', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, name: 'Rita', text: 'Oi' })
    await shop.callback({ phone, name: 'Rita Souza', text: 'Oi de novo' })
    await duringNaming(shop, () => app.drainJobs())
    expect(await found(shop, 'atacado')).toEqual(['Atacado Silva'])
    expect(await found(shop, 'souza')).toEqual(['Atacado Silva'])
  })

  test('the given name wins over the address book', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, name: 'Rita', text: 'Oi' })
    await duringNaming(shop, async () =>
      (await shop.context()).transaction((tx) => applyAddressBookName(tx, { phone, name: 'Rita da feira' })),
    )
    expect(await found(shop, 'atacado')).toEqual(['Atacado Silva'])
    expect(await found(shop, 'feira')).toEqual([])
  })
})
