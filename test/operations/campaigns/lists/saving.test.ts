import { describe, expect, test } from 'vitest'
import addContact from '#operations/campaigns/lists/api/add-contact'
import createList from '#operations/campaigns/lists/api/create-list'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import getList from '#operations/campaigns/lists/api/get-list'
import listLists from '#operations/campaigns/lists/api/list-lists'
import renameList from '#operations/campaigns/lists/api/rename-list'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { type Shop, store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()

const made = async (shop: Shop, name: string): Promise<string> =>
  (await shop.call(createList, { body: { name } })).body.id

describe('names', () => {
  test('a name is unique, ignoring case', async () => {
    const shop = await store(app)
    const created = await shop.call(createList, { body: { name: '  Clientes VIP ' } })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      name: 'Clientes VIP',
      source: 'manual',
      filters: null,
      size: 0,
      optedOut: 0,
      customFieldNames: [],
      import: null,
      lastSyncedAt: null,
    })
    const taken = await shop.call(createList, { body: { name: 'CLIENTES vip' } })
    expect([taken.status, taken.body.error.message]).toEqual([
      409,
      'name: there is a list named CLIENTES vip already',
    ])
    const id = await made(shop, 'Other')
    expect((await shop.call(renameList, { params: { id }, body: { name: 'clientes VIP' } })).status).toBe(409)
    const neighbour = await store(app)
    expect((await neighbour.call(createList, { body: { name: 'Clientes VIP' } })).status).toBe(201)
  })

  test('sending back a read list with another name renames it; unchanged it changes nothing', async () => {
    const shop = await store(app)
    const id = await made(shop, 'Before')
    const read = await shop.call(getList, { params: { id } })
    const same = await shop.call(renameList, { params: { id }, body: read.body })
    expect([same.status, same.body]).toEqual([200, read.body])
    const body = { ...read.body, name: 'After' }
    const renamed = await shop.call(renameList, { params: { id }, body })
    expect([renamed.status, renamed.body.name]).toEqual([200, 'After'])
    expect((await shop.call(renameList, { params: { id }, body: {} })).body.name).toBe('After')
  })

  test('ten concurrent requests create one list', async () => {
    const shop = await store(app)
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => shop.call(createList, { body: { name: 'Same' } })),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(9).fill(409)])
  })
})

test('lists are listed newest first, by name and source, with the number of opted-out contacts', async () => {
  const shop = await store(app)
  const ids = [await made(shop, 'Feira'), await made(shop, 'VIP São Paulo'), await made(shop, 'vip Santos')]
  for (const phone of ['+5511988880001', '+5511988880002', '+551188880003']) {
    await shop.call(addContact, { params: { id: ids[0]! }, body: { phone } })
  }
  await shop.call(addContact, { params: { id: ids[1]! }, body: { phone: '+5511988880001' } })
  await shop.call(addOptOut, { body: { phone: '+5511988880001' } })
  await shop.call(addOptOut, { body: { phone: '+5511988880003' } })
  await shop.call(addOptOut, { body: { phone: '+5511988880009' } })
  const all = (await shop.call(listLists)).body
  expect(all).toMatchObject({ page: 1, limit: 20, total: 3 })
  expect(all.data.map((each: { id: string }) => each.id)).toEqual([...ids].reverse())
  expect(all.data.map((each: { size: number; optedOut: number }) => [each.size, each.optedOut])).toEqual([
    [0, 0],
    [1, 1],
    [3, 2],
  ])
  expect((await shop.call(listLists, { query: { search: 'VIP' } })).body.total).toBe(2)
  expect((await shop.call(listLists, { query: { source: 'csv' } })).body.data).toEqual([])
  expect((await shop.call(getList, { params: { id: ids[0]! } })).body).toEqual(all.data[2])
})

test('there are at most 200 lists, also when two requests race for the last', async () => {
  const shop = await store(app)
  const now = app.clock.now()
  await app.database.root
    .insertInto('contact_lists')
    .values(
      Array.from({ length: 199 }, (_none, n) => ({
        store_id: shop.id,
        id: newId(now.getTime()),
        name: `List ${n}`,
        source: 'manual',
        created_at: now,
        updated_at: now,
      })),
    )
    .execute()
  const last = await Promise.all([
    shop.call(createList, { body: { name: 'One' } }),
    shop.call(createList, { body: { name: 'Two' } }),
  ])
  expect(last.map((answer) => answer.status).sort()).toEqual([201, 409])
})

describe('deleting', () => {
  const campaign = async (shop: Shop, listId: string, status: string): Promise<string> => {
    const id = newId(app.clock.ms())
    const now = app.clock.now()
    await app.database.root
      .insertInto('campaigns')
      .values({
        store_id: shop.id,
        id,
        name: `A ${status} one`,
        list_id: listId,
        list_name: null,
        content: '{}',
        status,
        pause_reason: null,
        failure_reason: null,
        audience_size: null,
        audience_opted_out: null,
        reservation_id: null,
        created_by: null,
        created_at: now,
        updated_at: now,
      })
      .execute()
    return id
  }
  const rowOf = (id: string) =>
    app.database.root
      .selectFrom('campaigns')
      .select(['list_id', 'list_name'])
      .where('id', '=', id)
      .executeTakeFirst()

  test.each(['scheduled', 'sending', 'paused'])('a %s campaign keeps its list', async (status) => {
    const shop = await store(app)
    const id = await made(shop, 'Used')
    await campaign(shop, id, status)
    const answer = await shop.call(deleteList, { params: { id } })
    expect([answer.status, answer.body.error.message]).toEqual([
      409,
      `The campaign A ${status} one is ${status} and uses this list: cancel it first`,
    ])
  })

  test('other campaigns keep the list name; its contacts are deleted', async () => {
    const shop = await store(app)
    const id = await made(shop, 'Old')
    const other = await made(shop, 'Other')
    await shop.call(addContact, { params: { id }, body: { phone: '+5511988880001' } })
    const campaigns = await Promise.all(
      ['draft', 'failed', 'sent', 'cancelled'].map((status) => campaign(shop, id, status)),
    )
    const untouched = await campaign(shop, other, 'draft')
    expect((await shop.call(deleteList, { params: { id } })).status).toBe(204)
    for (const each of campaigns) expect(await rowOf(each)).toEqual({ list_id: null, list_name: 'Old' })
    expect(await rowOf(untouched)).toEqual({ list_id: other, list_name: null })
    expect((await shop.call(getList, { params: { id } })).status).toBe(404)
    expect((await shop.call(deleteList, { params: { id } })).status).toBe(404)
    const left = await app.database.root
      .selectFrom('list_contacts')
      .selectAll()
      .where('list_id', '=', id)
      .execute()
    expect(left).toEqual([])
  })
})

test.runIf(isFullSuite)(
  'a phone of a new list is found by the index, also if the statistics only know other lists',
  async () => {
    const shop = await store(app)
    const [known, fresh] = [await made(shop, 'Known'), await made(shop, 'Fresh')]
    await app.database.query(
      `insert into list_contacts (store_id, id, list_id, phone, phone_key, source, created_at, updated_at)
      select store_id, uuid_v7(created_at), id, '+' || phone, phone, 'csv', created_at, created_at
      from contact_lists, lateral (select (5511920000000 + n)::text phone from generate_series(1, 5000) n) phones
      where id = $1`,
      [known],
    )
    await app.database.query('analyze', [])
    const plan = await app.database.query<{ 'QUERY PLAN': string }>(
      `explain select found.* from unnest(array['5511920000077']) as k(key) cross join lateral (
      select c.id, c.phone, c.name from list_contacts c
      where c.store_id = '${shop.id}' and c.list_id = '${fresh}' and c.phone_key = k.key limit 1) found`,
      [],
    )
    expect(plan.map((row) => row['QUERY PLAN']).join('\n')).toContain('using list_contacts_phone_once')
  },
)
