import { describe, expect, test } from 'vitest'
import addContact from '#operations/campaigns/lists/api/add-contact'
import createList from '#operations/campaigns/lists/api/create-list'
import getList from '#operations/campaigns/lists/api/get-list'
import listContacts from '#operations/campaigns/lists/api/list-contacts'
import removeContact from '#operations/campaigns/lists/api/remove-contact'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

const app = await testApp()

async function shopWithList(): Promise<{ shop: Shop; id: string }> {
  const shop = await store(app)
  return { shop, id: (await shop.call(createList, { body: { name: 'VIP' } })).body.id }
}

describe('adding', () => {
  test('a phone is in a list once, however it is written', async () => {
    const { shop, id } = await shopWithList()
    const add = (body: object) => shop.call(addContact, { params: { id }, body })
    const added = await add({
      phone: '(11) 98888-7777',
      name: ' Ana Souza ',
      customFields: { cidade: 'Santos' },
    })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      listId: id,
      phone: '+5511988887777',
      name: 'Ana Souza',
      email: null,
      customFields: { cidade: 'Santos' },
      source: 'manual',
      platformCustomerId: null,
      optedOut: false,
    })
    const twice = await add({ phone: '+55 11 98888 7777' })
    expect([twice.status, twice.body.error.message]).toEqual([
      409,
      'phone: +5511988887777 is in the list already',
    ])
    expect((await add({ phone: '+55 11 8888 7777' })).status).toBe(409)
    expect((await add({ phone: 'abc' })).body.error.message).toBe('phone: is not a phone number')
    const list = (await shop.call(getList, { params: { id } })).body
    expect([list.size, list.customFieldNames]).toEqual([1, ['cidade']])
    const page = await shop.call(listContacts, { params: { id } })
    expect(page.body).toEqual({ data: [added.body], page: 1, limit: 20, total: 1 })
  })

  test('errors name the field; null counts as omitted, read-only fields are ignored', async () => {
    const { shop, id } = await shopWithList()
    const add = (body: object) => shop.call(addContact, { params: { id }, body })
    const phone = '+5511988887777'
    const many = Object.fromEntries(Array.from({ length: 21 }, (_none, n) => [`field${n}`, 'x']))
    for (const [body, message] of [
      [{ phone, email: 'ana' }, 'email: must be an email address'],
      [{ phone, email: `${'a'.repeat(250)}@b.co` }, 'email: must have at most 254 characters'],
      [{ phone, name: 'x'.repeat(121) }, 'name: must have at most 120 characters'],
      [{ phone, customFields: { cidade: '' } }, 'customFields.cidade: must not be empty'],
      [
        { phone, customFields: { cidade: 'x'.repeat(501) } },
        'customFields.cidade: must have at most 500 characters',
      ],
      [{ phone, customFields: many }, 'customFields: must have at most 20 fields'],
      [{ name: 'Ana' }, 'phone: is required'],
    ] as const) {
      const answer = await add(body)
      expect([answer.status, answer.body.error.message]).toEqual([400, message])
    }
    for (const reserved of ['firstName', 'storeUrl', '1st', 'a-b', 'x'.repeat(41)]) {
      const answer = await add({ phone, customFields: { [reserved]: 'x' } })
      expect(answer.status, reserved).toBe(400)
      expect(answer.body.error.message).toContain(`customFields.${reserved}: is no name of a custom field`)
    }
    const added = await add({
      phone,
      name: '',
      email: null,
      customFields: { a: 'b', c: null },
      optedOut: true,
    })
    expect(added.body).toMatchObject({ name: null, email: null, customFields: { a: 'b' }, optedOut: false })
  })

  test('concurrent additions are all counted, and one phone once', async () => {
    const { shop, id } = await shopWithList()
    const phones = Array.from({ length: 20 }, (_none, n) => `+55119888800${String(n % 15).padStart(2, '0')}`)
    const answers = await Promise.all(
      phones.map((phone) => shop.call(addContact, { params: { id }, body: { phone } })),
    )
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(15)
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(5)
    expect((await shop.call(getList, { params: { id } })).body.size).toBe(15)
  })

  test('a full list refuses contacts', async () => {
    const { shop, id } = await shopWithList()
    await app.database.root.updateTable('contact_lists').set({ size: 199_999 }).where('id', '=', id).execute()
    const add = (phone: string) => shop.call(addContact, { params: { id }, body: { phone } })
    const both = await Promise.all([add('+5511988887701'), add('+5511988887702')])
    expect(both.map((answer) => answer.status).sort()).toEqual([201, 409])
    expect(both.find((answer) => answer.status === 409)!.body.error.message).toMatch(/^The list is full/)
  })
})

describe('listing', () => {
  test('contacts are found by name, email, digits or opt-out', async () => {
    const { shop, id } = await shopWithList()
    const people = [
      { phone: '+5511988880001', name: 'Ana Souza', email: 'ana@example.com' },
      { phone: '+5511988880002', name: 'Bruno', email: 'B2@Example.com' },
      { phone: '+5521977770003', name: 'Carla 8888' },
    ]
    for (const body of people) await shop.call(addContact, { params: { id }, body })
    await shop.call(addOptOut, { body: { phone: '+551188880002' } })
    const names = async (query: Record<string, string | number | boolean>) => {
      const { body } = await shop.call(listContacts, { params: { id }, query })
      return [body.data.map((each: { name: string }) => each.name), body.total]
    }
    expect(await names({})).toEqual([['Carla 8888', 'Bruno', 'Ana Souza'], 3])
    expect(await names({ search: 'SOUZA' })).toEqual([['Ana Souza'], 1])
    expect(await names({ search: 'example.com' })).toEqual([['Bruno', 'Ana Souza'], 2])
    expect(await names({ search: '8888' })).toEqual([['Carla 8888', 'Bruno', 'Ana Souza'], 3])
    expect(await names({ search: '(21) 97777' })).toEqual([['Carla 8888'], 1])
    expect(await names({ search: 'b2' })).toEqual([['Bruno'], 1])
    expect(await names({ optedOut: true })).toEqual([['Bruno'], 1])
    expect(await names({ optedOut: false })).toEqual([['Carla 8888', 'Ana Souza'], 2])
    expect(await names({ optedOut: false, search: 'a', limit: 1, page: 2 })).toEqual([['Ana Souza'], 2])
    expect(await names({ page: 9 })).toEqual([[], 3])
    expect(await names({ search: 'x'.repeat(120) })).toEqual([[], 0])
    for (const search of ['', 'x'.repeat(121)]) {
      const refused = await shop.call(listContacts, { params: { id }, query: { search } })
      expect([refused.status, refused.body.error.message.split(':')[0]]).toEqual([400, 'search'])
    }
  })
})

describe('removing', () => {
  test('removing a contact updates the size, and drops fields that no contact has any more', async () => {
    const { shop, id } = await shopWithList()
    const add = async (phone: string, customFields: object): Promise<string> =>
      (await shop.call(addContact, { params: { id }, body: { phone, customFields } })).body.id
    const first = await add('+5511988880001', { cidade: 'Santos', cupom: 'A' })
    await add('+5511988880002', { cidade: 'Campinas' })
    const other = (await shop.call(createList, { body: { name: 'Other' } })).body.id
    const wrong = await shop.call(removeContact, { params: { id: other, contactId: first } })
    expect(wrong.status).toBe(404)
    expect((await shop.call(removeContact, { params: { id, contactId: first } })).status).toBe(204)
    expect((await shop.call(removeContact, { params: { id, contactId: first } })).status).toBe(404)
    const list = (await shop.call(getList, { params: { id } })).body
    expect([list.size, list.customFieldNames]).toEqual([1, ['cidade']])
    // A manual list is not synced, so the phone can be added again.
    await add('+5511988880001', {})
  })
})
