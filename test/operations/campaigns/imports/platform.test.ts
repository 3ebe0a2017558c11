import { describe, expect, test } from 'vitest'
import importCsv from '#operations/campaigns/imports/api/import-csv'
import importPlatform from '#operations/campaigns/imports/api/import-platform'
import syncList from '#operations/campaigns/imports/api/sync-list'
import { matchesFilters } from '#operations/campaigns/imports/customer-filters'
import addContact from '#operations/campaigns/lists/api/add-contact'
import removeContact from '#operations/campaigns/lists/api/remove-contact'
import type { CustomerFilters } from '#operations/campaigns/lists/import-schema'
import type { PlatformCustomer } from '#operations/store/ecommerce/port'
import { putCustomers } from '#operations/store/ecommerce/sandbox-catalog'
import { hourMs } from '#runtime/durations'
import { testApp } from '#test/support/app'
import { makePhone, read, readContacts } from '#test/support/imports'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const app = await testApp()

async function buyer(shop: ConnectedShop, n: number, orders: number): Promise<void> {
  await putCustomers(shop.platform, [
    { id: String(5000 + n), name: `Cliente ${n}`, email: `c${n}@example.com`, phone: makePhone(n) },
  ])
  for (let i = 0; i < orders; i += 1) await shop.place({ customer: { id: String(5000 + n) } })
}

describe('a list of the platform', () => {
  test('adds matching customers, and new ones at a sync, but none that were removed by hand', async () => {
    const shop = await connectedStore(app)
    for (const [n, orders] of [
      [1, 2],
      [2, 3],
      [3, 1],
      [4, 2],
    ] as const)
      await buyer(shop, n, orders)
    const asked = await shop.call(importPlatform, { body: { name: 'Recurring', filters: { ordersMin: 2 } } })
    expect([asked.status, asked.body.status]).toEqual([202, 'queued'])
    const id = asked.body.listId
    expect((await read(shop, id)).import).toMatchObject({
      status: 'queued',
      total: null,
      kind: 'ecomplatform',
    })
    await app.drainJobs()
    const first = await read(shop, id)
    expect(first).toMatchObject({
      source: 'ecomplatform',
      filters: { ordersMin: 2 },
      size: 3,
      import: { status: 'completed', total: 3, processed: 3, added: 3, invalid: 0, errors: [] },
    })
    expect(first.lastSyncedAt).toBe(first.import.finishedAt)
    const contacts = await readContacts(shop, id)
    expect(contacts).toMatchObject([
      { name: 'Cliente 4', source: 'ecomplatform', platformCustomerId: '5004', phone: makePhone(4) },
      { name: 'Cliente 2' },
      { name: 'Cliente 1', email: 'c1@example.com', customFields: {} },
    ])

    const removed = contacts.find((contact: { name: string }) => contact.name === 'Cliente 2')!
    expect((await shop.call(removeContact, { params: { id, contactId: removed.id } })).status).toBe(204)
    await buyer(shop, 5, 2)
    await shop.place({ customer: { id: '5003' } })
    await putCustomers(shop.platform, [{ id: '5001', name: 'Renamed', phone: makePhone(1) }])
    await app.advance(60_000)
    const synced = await shop.call(syncList, { params: { id } })
    expect(synced.body).toEqual({ jobId: expect.any(String), status: 'queued', listId: id })
    await app.drainJobs()
    const second = await read(shop, id)
    expect(second).toMatchObject({
      size: 4,
      import: { jobId: synced.body.jobId, total: 5, added: 2, updated: 0, unchanged: 2, excluded: 1 },
    })
    expect(second.lastSyncedAt > first.lastSyncedAt).toBe(true)
    expect((await readContacts(shop, id)).map((contact: { name: string }) => contact.name).sort()).toEqual([
      'Cliente 1',
      'Cliente 3',
      'Cliente 4',
      'Cliente 5',
    ])

    // The phone can be added again by hand, and a sync keeps it.
    const back = await shop.call(addContact, { params: { id }, body: { phone: makePhone(2) } })
    expect(back.status).toBe(201)
    await shop.call(syncList, { params: { id } })
    await app.drainJobs()
    expect(await read(shop, id)).toMatchObject({ size: 5, import: { added: 0, unchanged: 5, excluded: 0 } })
  })

  test('reads all pages; a customer without a usable phone is invalid, a second one with the same phone unchanged', async () => {
    const shop = await connectedStore(app)
    await putCustomers(
      shop.platform,
      Array.from({ length: 600 }, (_none, n) => ({ id: `w${n}`, name: `W ${n}`, phone: makePhone(n % 599) })),
    )
    await putCustomers(shop.platform, [
      { id: 'none', name: 'None', phone: null },
      { id: 'odd', name: 'Odd', phone: '12' },
    ])
    const asked = await shop.call(importPlatform, { body: { name: 'All' } })
    await app.drainJobs()
    const list = await read(shop, asked.body.listId)
    expect(list).toMatchObject({
      filters: {},
      size: 599,
      import: { total: 602, processed: 602, added: 599, unchanged: 1, invalid: 2 },
    })
    expect(list.import.errors).toEqual([
      { line: null, reason: 'phone: is missing (customer none)' },
      { line: null, reason: 'phone: is not a phone number (customer odd)' },
    ])
  })

  test('syncs one at a time, only a list of the platform, with a connected platform', async () => {
    const shop = await connectedStore(app)
    const asked = await shop.call(importPlatform, { body: { name: 'Platform' } })
    await app.drainJobs()
    const id = asked.body.listId
    const both = await Promise.all([
      shop.call(syncList, { params: { id } }),
      shop.call(syncList, { params: { id } }),
    ])
    expect(both.map((answer) => answer.status).sort()).toEqual([202, 409])
    const csv = await shop.call(importCsv, {
      body: { name: 'CSV', columns: ['phone'], rows: [['11988887777']] },
    })
    await app.drainJobs()
    const wrong = await shop.call(syncList, { params: { id: csv.body.listId } })
    expect([wrong.status, wrong.body.error.message]).toEqual([
      409,
      'This list was not built from the platform: there is nothing to sync it with',
    ])
    expect((await shop.call(importPlatform, { body: { name: 'PLATFORM' } })).status).toBe(409)
    const without = await store(app)
    const refused = await without.call(importPlatform, { body: { name: 'None' } })
    expect([refused.status, refused.body.error.message]).toEqual([
      409,
      'The store is not connected to an ecommerce platform: connect it first',
    ])
  })

  test.runIf(isFullSuite)(
    'an unavailable platform is retried; after a day the import has failed',
    async () => {
      const shop = await connectedStore(app)
      await buyer(shop, 1, 1)
      const asked = await shop.call(importPlatform, { body: { name: 'Down' } })
      await app.database.root
        .insertInto('sandbox_modes')
        .values({ store_id: shop.id, port: 'ecommerce', mode: 'down' })
        .execute()
      await app.drainJobs({ allowFailures: true })
      expect((await read(shop, asked.body.listId)).import).toMatchObject({ status: 'running', processed: 0 })
      for (const hours of [0.3, 0.3, 0.3, 25, 1, 1, 1, 1, 1, 1]) {
        await app.advance(hours * hourMs)
        await app.drainJobs({ allowFailures: true })
      }
      expect((await read(shop, asked.body.listId)).import).toMatchObject({
        status: 'failed',
        failureReason: 'The platform did not answer as it should',
      })
      await app.database.root.deleteFrom('sandbox_modes').where('store_id', '=', shop.id).execute()
      expect((await shop.call(syncList, { params: { id: asked.body.listId } })).status).toBe(202)
      await app.drainJobs()
      expect((await read(shop, asked.body.listId)).size).toBe(1)
    },
  )
})

describe('filters', () => {
  const customer: PlatformCustomer = {
    id: '1',
    name: null,
    email: null,
    phone: null,
    birthDate: null,
    ordersCount: 3,
    totalSpent: '249.90',
    firstOrderAt: '2026-01-10T12:00:00.000Z',
    lastOrderAt: '2026-10-21T12:00:00.000Z',
    acceptsMarketing: false,
  }
  const now = new Date('2026-11-20T15:00:00Z')
  const passes = (filters: CustomerFilters, changes: Partial<PlatformCustomer> = {}, at = now): boolean =>
    matchesFilters({ ...customer, ...changes }, filters, at, 'America/Sao_Paulo')

  test('bounds are inclusive', () => {
    expect(passes({})).toBe(true)
    expect([3, 4].map((n) => passes({ ordersMin: n }))).toEqual([true, false])
    expect([3, 2].map((n) => passes({ ordersMax: n }))).toEqual([true, false])
    expect([249.9, 249.91].map((n) => passes({ totalSpentMin: n }))).toEqual([true, false])
    expect([249.9, 249.89].map((n) => passes({ totalSpentMax: n }))).toEqual([true, false])
    expect(passes({ firstOrderFrom: '2026-01-10', firstOrderTo: '2026-01-10' })).toBe(true)
    expect(passes({ lastOrderFrom: '2026-10-22' })).toBe(false)
    expect([true, false].map((flag) => passes({ acceptsMarketing: flag }))).toEqual([false, true])
    expect(passes({ ordersMin: 2, acceptsMarketing: true })).toBe(false)
  })

  test('relative days count back from today in the store zone', () => {
    const last = (day: string) => ({ lastOrderAt: `${day}T12:00:00.000Z` })
    expect(passes({ orderedWithinDays: 30 }, last('2026-10-21'))).toBe(true)
    expect(passes({ orderedWithinDays: 30 }, last('2026-10-20'))).toBe(false)
    expect(passes({ notOrderedForDays: 30 }, last('2026-10-21'))).toBe(false)
    expect(passes({ notOrderedForDays: 30 }, last('2026-10-20'))).toBe(true)
    // 01:00 UTC is still the day before in São Paulo, for the order and for today.
    expect(passes({ lastOrderTo: '2026-10-20' }, { lastOrderAt: '2026-10-21T01:00:00.000Z' })).toBe(true)
    expect(passes({ orderedWithinDays: 30 }, last('2026-10-20'), new Date('2026-11-20T01:00:00Z'))).toBe(true)
  })

  test('a customer without orders fails every date filter and passes ordersMax 0', () => {
    const never = { ordersCount: 0, totalSpent: '0.00', firstOrderAt: null, lastOrderAt: null }
    const dated: CustomerFilters[] = [
      { firstOrderFrom: '2000-01-01' },
      { firstOrderTo: '2999-01-01' },
      { lastOrderFrom: '2000-01-01' },
      { lastOrderTo: '2999-01-01' },
      { orderedWithinDays: 3650 },
      { notOrderedForDays: 1 },
    ]
    for (const filters of dated) expect(passes(filters, never), JSON.stringify(filters)).toBe(false)
    expect(passes({ ordersMax: 0, totalSpentMax: 0 }, never)).toBe(true)
  })

  test('crossed bounds and contradictory filters are 400', async () => {
    const shop = await connectedStore(app)
    for (const [filters, message] of [
      [{ ordersMin: 5, ordersMax: 4 }, 'filters.ordersMin: must not be more than ordersMax'],
      [
        { totalSpentMin: 5, totalSpentMax: 4.99 },
        'filters.totalSpentMin: must not be more than totalSpentMax',
      ],
      [
        { firstOrderFrom: '2026-02-01', firstOrderTo: '2026-01-31' },
        'filters.firstOrderFrom: must not be more than firstOrderTo',
      ],
      [
        { notOrderedForDays: 5, lastOrderFrom: '2026-01-01' },
        'filters.notOrderedForDays: goes without lastOrderFrom and lastOrderTo: leave one or the other out',
      ],
      [{ lastOrderTo: '2026-02-30' }, 'filters.lastOrderTo: is no day of the calendar'],
      [{ orderedWithinDays: 0 }, 'filters.orderedWithinDays: must be at least 1'],
      [{ orders: 1 }, 'filters.orders: is not a known field'],
    ] as const) {
      const answer = await shop.call(importPlatform, { body: { name: 'Crossed', filters } })
      expect([answer.status, answer.body.error.message]).toEqual([400, message])
    }
  })
})
