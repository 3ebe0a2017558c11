/** People on contact lists whose phone is hidden: they are named by the provider's id. */
import { beforeEach, describe, expect, test } from 'vitest'
import importCsv from '#operations/campaigns/imports/api/import-csv'
import addContact from '#operations/campaigns/lists/api/add-contact'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import exportContacts from '#operations/campaigns/lists/api/export-contacts'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { buildValues } from '#operations/campaigns/sending/render'
import exportConversations from '#operations/inbox/conversations/api/export-conversations'
import { listSandboxMail } from '#runtime/ports/mail/sandbox'
import { readRows } from '#test/support/csv-reader'
import { emptyList, importRows, read, readContacts } from '#test/support/imports'
import { type Shop, store } from '#test/support/store'
import { whatsappApp } from '#test/support/whatsapp'

const { app, standIn, newNumber, withInbox, sendHook, metadata, seconds, wamid } = await whatsappApp()
beforeEach(newNumber)

const userId = 'BR.13491208655302741918'
const phone = '+5511977770001'

const exportOf = async (shop: Shop, asked: { body: { jobId: string } }): Promise<string[][]> => {
  await app.drainJobs()
  const mails = await listSandboxMail(app.database.root as never, { to: shop.email })
  const file = mails
    .flatMap((mail) => mail.attachments)
    .find((each) => each.fileName.includes(asked.body.jobId))
  return readRows(Buffer.from(file!.content).toString())
}
const exportList = async (shop: Shop, id: string, query: object = {}): Promise<string[][]> =>
  exportOf(shop, (await shop.call(exportContacts, { params: { id }, query: { ...query } })) as never)

async function importAs(shop: Shop, name: string, [columns, ...rows]: string[][]): Promise<string> {
  const { status, body } = await shop.call(importCsv, { body: { name, columns, rows } })
  expect([status, body.error]).toEqual([202, undefined])
  await app.drainJobs()
  return body.listId
}

async function listWithBoth(shop: Shop): Promise<string> {
  const id = await emptyList(shop)
  const add = (body: object) => shop.call(addContact, { params: { id }, body })
  expect((await add({ phone, name: 'Ana', customFields: { cidade: 'Itu' } })).status).toBe(201)
  const hidden = await add({ phone: userId, name: 'Rita', customFields: { whatsapp_user_id: '=1' } })
  expect([hidden.status, hidden.body.phone]).toEqual([201, userId])
  return id
}

test('the export has ids in a last column, and brings names and ids into another list and store', async () => {
  const [shop, other] = [await store(app), await store(app)]
  const id = await listWithBoth(shop)
  await shop.call(addOptOut, { body: { phone: userId } })
  for (const query of [{}, { forExcel: true }]) {
    const file = await exportList(shop, id, query)
    expect(file[0]!.toSpliced(5, 1)).toEqual([
      ...['phone', 'name', 'email', 'source', 'opted_out'],
      ...['cidade', 'customFields.whatsapp_user_id', 'whatsapp_user_id'],
    ])
    expect(file[1]!.toSpliced(5, 1)).toEqual(['', 'Rita', '', 'manual', 'true', '', "'=1", userId])
    expect(file[2]!.at(-1)).toBe('')
    for (const to of [shop, other]) {
      const copy = await importAs(to, `Copy ${file[2]![0]}`, file)
      expect((await read(to, copy)).import).toMatchObject({ added: 2, invalid: 0 })
      const kept = { optedOut: to === shop, customFields: { whatsapp_user_id: '=1' } }
      const contacts = await readContacts(to, copy)
      expect(contacts).toHaveLength(2)
      expect(contacts).toContainEqual(expect.objectContaining({ phone, name: 'Ana' }))
      expect(contacts).toContainEqual(expect.objectContaining({ phone: userId, name: 'Rita', ...kept }))
    }
  }
})

test('a person stays opted out after their list was deleted and imported again', async () => {
  const shop = await store(app)
  const id = await listWithBoth(shop)
  await shop.call(addOptOut, { body: { phone: userId } })
  const file = await exportList(shop, id)
  await shop.call(deleteList, { params: { id } })
  const again = await importAs(shop, 'Again', file)
  const rita = (await readContacts(shop, again)).find((each: { phone: string }) => each.phone === userId)
  expect(rita).toMatchObject({ name: 'Rita', optedOut: true })
})

test('an export from before the column is imported as before', async () => {
  const shop = await store(app)
  const file = (await exportList(shop, await listWithBoth(shop))).map((row) => row.slice(0, -1))
  const id = await importAs(shop, 'Old', file)
  expect((await read(shop, id)).import).toMatchObject({
    added: 1,
    invalid: 1,
    errors: [{ line: 2, reason: 'phone: is missing' }],
  })
})

test('a row has a phone or an id: formulas and other text are refused, the phone comes first', async () => {
  const shop = await store(app)
  const id = await emptyList(shop)
  await importRows(shop, id, {
    columns: ['Telefone', 'whatsapp_user_id'],
    rows: [
      ['', userId],
      ['', `'${userId}`],
      ['', `="${userId}"`],
      ['', `=${userId}`],
      ['', '=HYPERLINK("https://evil.example")'],
      ['', 'rita.s'],
      ['', ''],
      [phone, 'BR.2'],
      ['abc', 'BR.ENT.3'],
    ],
  })
  await app.drainJobs()
  expect((await read(shop, id)).import).toMatchObject({
    ...{ added: 3, updated: 0, unchanged: 1, invalid: 4, foreignPhones: 0 },
    errors: [3, 5, 6, 7].map((line) => ({ line, reason: 'phone: is not a phone number' })),
  })
  const phones = (await readContacts(shop, id)).map((each: { phone: string }) => each.phone)
  expect(phones.toSorted()).toEqual([phone, userId, 'BR.ENT.3'].toSorted())
})

test('a text has no phone of such a person', async () => {
  const shop = await store(app)
  const { store: facts } = await shop.context()
  const person = { name: 'Rita', email: null, custom_fields: {} }
  expect(buildValues({ ...person, phone: userId }, facts).phone).toBeNull()
  expect(buildValues({ ...person, phone }, facts).phone).toBe(phone)
})

describe('a person whose phone becomes known', () => {
  const inbound = (from: object, contact: object) =>
    sendHook('messages', {
      messaging_product: 'whatsapp',
      metadata: metadata(),
      contacts: [{ user_id: userId, profile: { name: 'Rita' }, ...contact }],
      messages: [
        {
          ...from,
          from_user_id: userId,
          id: wamid(),
          timestamp: seconds(),
          type: 'text',
          text: { body: 'Oi' },
        },
      ],
    })
  const showPhone = () => inbound({ from: phone.slice(1) }, { wa_id: phone.slice(1) })

  test('the conversations export has the id, and is imported as a list', async () => {
    const shop = await withInbox()
    await inbound({}, {})
    const file = await exportOf(shop, (await shop.call(exportConversations)) as never)
    expect([file[0]!.at(-1), file[1]!.at(-1)]).toEqual(['whatsapp_user_id', userId])
    const id = await importAs(shop, 'Inbox', file)
    expect(await readContacts(shop, id)).toMatchObject([{ phone: userId, name: 'Rita' }])
    expect(standIn.dropped).toEqual([])
  })

  test('a list that has both keeps one contact, with name and opt-out; others follow', async () => {
    const shop = await withInbox()
    await inbound({}, {})
    await shop.call(addOptOut, { body: { phone: userId } })
    const both = await importAs(shop, 'Both', [
      ['phone', 'name', 'cidade', 'whatsapp_user_id'],
      [phone, '', '', ''],
      ['', 'Rita', 'Itu', userId],
    ])
    const only = await importAs(shop, 'Only', [
      ['name', 'whatsapp_user_id'],
      ['Rita', userId],
    ])
    await showPhone()
    for (const id of [both, only]) {
      expect(await readContacts(shop, id)).toMatchObject([{ phone, name: 'Rita', optedOut: true }])
      expect(await read(shop, id)).toMatchObject({ size: 1, optedOut: 1, customFieldNames: [] })
    }
  })

  test('an id in an old file is imported as the phone, once', async () => {
    const shop = await withInbox()
    await showPhone()
    const id = await importAs(shop, 'Late', [
      ['phone', 'name', 'whatsapp_user_id'],
      ['', 'Rita', userId],
      [phone, 'Rita S.', ''],
    ])
    expect(await readContacts(shop, id)).toMatchObject([{ phone, name: 'Rita S.' }])
    const again = await shop.call(addContact, { params: { id }, body: { phone: userId } })
    expect(again.status).toBe(409)
  })
})
