/** All spellings of an email address are one address. */
import { describe, expect, test } from 'vitest'
import importCsv from '#operations/campaigns/imports/api/import-csv-into-list'
import createList from '#operations/campaigns/lists/api/create-list'
import listContacts from '#operations/campaigns/lists/api/list-contacts'
import { loadRegistry } from '#runtime/registry/registry'
import type { z } from '#runtime/schema'
import { testApp } from '#test/support/app'
import { formShop, popupShop, readSubscribers } from '#test/support/capture'
import { connectedStore } from '#test/support/platform'
import { stockShop } from '#test/support/stock'
import { type Shop, store } from '#test/support/store'
import { reviewShop } from './reviews/shop.ts'
import { addresses, read } from './spellings.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-11-20T12:00:00.000Z')

describe('an address', () => {
  test('is stored from forms and files in its normalized form', async () => {
    const kept = async (table: 'list_contacts' | 'contact_form_submissions', shop: Shop) => {
      const rows = await app.database.root
        .selectFrom(table)
        .select('email')
        .where('store_id', '=', shop.id)
        .execute()
      return rows.map((row) => row.email?.toLowerCase())
    }
    const form = await formShop(app)
    for (const email of addresses) {
      const sent = await form.send({ name: 'Ana', email, message: `Oi ${email}` })
      expect([email, sent.status]).toEqual([email, 201])
    }
    expect(new Set(await kept('contact_form_submissions', form))).toEqual(new Set(['ana@example.com']))

    const shop = await store(app)
    const { id } = (await shop.call(createList, { body: { name: 'VIP' } })).body
    const body = {
      columns: ['phone', 'email'],
      rows: addresses.map((email, i) => [`+551198765432${i}`, email]),
    }
    expect((await shop.call(importCsv, { params: { id }, body })).status).toBe(202)
    await app.drainJobs()
    expect(await kept('list_contacts', shop)).toEqual(addresses.map(() => 'ana@example.com'))
    for (const search of addresses) {
      const found = await shop.call(listContacts, { params: { id }, query: { search } })
      expect([search, found.body.total]).toEqual([search, addresses.length])
    }
  })

  test('is found by each spelling, wherever addresses are searched', async () => {
    const { operations } = await loadRegistry()
    const paths = operations
      .filter(({ spec }) => {
        const search = (spec.input?.query as z.ZodObject<z.ZodRawShape> | undefined)?.shape?.search
        return spec.method === 'GET' && /email/i.test(search?.description ?? '') && !/export/.test(spec.path)
      })
      .map(({ spec }) => spec.path)
    const form = await formShop(app)
    await form.send({ name: 'Ana', email: 'ana@example.com', message: 'Oi' })
    const popup = await popupShop(app, {})
    await popup.subscribe({ email: 'ana@example.com' })
    const stock = await stockShop(app, { connection: null })
    await stock.ask({ email: 'ana@example.com' })
    const seller = await connectedStore(app)
    await seller.sell({ customer: { name: 'Zoe', email: 'ana@example.com', phone: '+5511912345678' } })
    const lister = await store(app)
    const { id } = (await lister.call(createList, { body: { name: 'VIP' } })).body
    const body = { columns: ['phone', 'email'], rows: [['+5511912345678', 'ana@example.com']] }
    expect((await lister.call(importCsv, { params: { id }, body })).status).toBe(202)
    await app.drainJobs()
    const reviews = await reviewShop(app)
    await reviews.settings({ request: { delayDays: 5 } })
    const bought = await reviews.sell({
      customer: { name: 'Zoe', email: 'ana@example.com' },
      items: [{ variantId: '2001', quantity: 1 }],
    })
    await reviews.resell(bought, { fulfillmentStatus: 'delivered' })
    await reviews.review({ name: 'Ana', email: 'ana@example.com', status: 'approved' })
    const places: Record<string, [Shop, Record<string, string>]> = {
      '/contact-form/submissions': [form, {}],
      '/newsletter/all-suscribers': [popup, {}],
      '/stock-notifications/list': [stock, { status: 'all' }],
      '/analytics/orders': [seller, { startDate: '2026-11-01', endDate: '2026-11-30' }],
      '/campaigns/lists/:id/contacts': [lister, {}],
      '/product-reviews/list': [reviews, {}],
      '/product-reviews/dispatches': [reviews, { status: 'all' }],
    }
    // The test above covers each spelling of the contact and of the number.
    expect(paths.filter((path) => !places[path] && path !== '/product-exchanges/requests')).toEqual([])
    for (const [path, [shop, query]] of Object.entries(places)) {
      for (const search of addresses) {
        const found = await read(shop, path.replace(':id', id), search.trim(), query)
        expect([path, search, found.body.total]).toEqual([path, search, 1])
      }
    }
  })

  test('that unsubscribed can only resubscribe itself', async () => {
    const fields = {
      email: { enabled: true, required: false },
      phone: { enabled: true, required: false },
      name: { enabled: true, required: false },
    }
    const shop = await popupShop(app, { fields })
    const phone = '+5511987654321'
    await shop.subscribe({ email: 'ana@example.com', phone })
    await app.database.root
      .updateTable('newsletter_subscribers')
      .set({ status: 'unsubscribed', unsubscribed_at: app.clock.now() })
      .where('store_id', '=', shop.id)
      .execute()
    await shop.subscribe({ phone })
    expect(await readSubscribers(shop)).toMatchObject([{ status: 'unsubscribed' }])
    await shop.subscribe({ email: ' ANA@example.com' })
    expect(await readSubscribers(shop)).toMatchObject([{ status: 'subscribed' }])
  })
})
