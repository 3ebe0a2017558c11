/**
 * All spellings of a phone or an address are one person: stored under one spelling, found, refused, removed and counted
 * under every other. Every operation that takes a phone, an email or a search for them is listed here.
 */
import { describe, expect, test } from 'vitest'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import importCsv from '#operations/campaigns/imports/api/import-csv-into-list'
import addContact from '#operations/campaigns/lists/api/add-contact'
import createList from '#operations/campaigns/lists/api/create-list'
import listContacts from '#operations/campaigns/lists/api/list-contacts'
import addOptOut from '#operations/campaigns/opt-outs/api/add-opt-out'
import deleteOptOut from '#operations/campaigns/opt-outs/api/delete-opt-out'
import listOptOuts from '#operations/campaigns/opt-outs/api/list-opt-outs'
import updateForm from '#operations/capture/contact-form/api/update-form-settings'
import listConversations from '#operations/inbox/conversations/api/list-conversations'
import deleteBinding from '#operations/messaging/assistant/api/delete-binding'
import { findOptedOut } from '#operations/messaging/opt-outs/opt-outs'
import { loadRegistry } from '#runtime/registry/registry'
import type { z } from '#runtime/schema'
import { testApp } from '#test/support/app'
import { sendingShop } from '#test/support/campaigns'
import { formShop, popupShop, readSubscribers } from '#test/support/capture'
import { inboxShop } from '#test/support/inbox'
import { connectedStore } from '#test/support/platform'
import { stockShop } from '#test/support/stock'
import { store } from '#test/support/store'
import { ana, exchangeShop } from './exchanges/shopper.ts'
import { reviewShop } from './reviews/shop.ts'
import { addresses, parts, read, spellings, stored } from './spellings.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
await app.setClock('2026-11-20T12:00:00.000Z')

describe('in the registry', () => {
  const here: Record<string, string> = {
    'POST /campaigns/opt-outs': 'opt-outs',
    'DELETE /campaigns/opt-outs/:phone': 'opt-outs',
    'GET /campaigns/opt-outs': 'opt-outs',
    'GET /campaigns/opt-outs/export': 'the filters of the list: conditionsOf',
    'POST /campaigns/lists/:id/contacts': 'contacts of a list',
    'GET /campaigns/lists/:id/contacts': 'contacts of a list',
    'GET /campaigns/lists/:id/contacts/export': 'the filters of the list: conditionsOf',
    'POST /campaigns/lists/import/csv': 'contacts of a list (the same rows)',
    'POST /campaigns/lists/:id/import/csv': 'contacts of a list',
    'GET /campaigns/:id/messages': 'searches',
    'GET /inbox/conversations': 'conversations',
    'GET /inbox/export': 'the filters of the list: filteredRows',
    'GET /newsletter/all-suscribers': 'searches',
    'GET /newsletter/export-subscribers': 'the filters of the list: subscriberConditions',
    'GET /contact-form/submissions': 'searches',
    'GET /contact-form/submissions/export': 'the filters of the list: conditionsOf',
    'GET /stock-notifications/list': 'searches',
    'GET /stock-notifications/export': 'the filters of the list: conditionsOf',
    'GET /analytics/orders': 'searches',
    'GET /product-exchanges/requests': 'searches',
    'GET /product-exchanges/export': 'the filters of the list',
    'DELETE /chat-agent/bindings/:phone': 'paired phones',
    'POST /stores/team/invitations': 'invitations',
  }
  /** Operations that take one without looking anybody up by it. */
  const others: Record<string, string> = {
    'POST /messaging/send-message':
      'sends; whether it may is asked of the opt-outs and the window by their key',
    'POST /messaging/templates': 'a number to call, in a button',
    'PATCH /messaging/templates/:id': 'a number to call, in a button',
    'POST /messaging/templates/:id/test': 'sends',
    'POST /automations/:id/test': 'sends',
    'POST /messaging-button': "the merchant's own number",
    'PATCH /messaging-button/:messagingButtonId': "the merchant's own number",
    'POST /chat-agent/connect-code': 'pairs; bound by key (paired phones)',
    'PATCH /store': "the store's own, as are those of its profile",
    'PUT /contact-form/settings': 'who is told, each once',
    'POST /product-reviews/send-test-email': 'sends',
    'POST /stock-notifications/send-test-email': 'sends',
    'POST /product-exchanges/settings': "the merchant's own number",
    'POST /product-exchanges/requests/:id/approve': "the merchant's own number",
    'PATCH /product-exchanges/requests/:id/address': "the merchant's own number",
    'GET /product-reviews/list': 'in names, emails and texts; a review shows no phone',
    'GET /product-reviews/export': 'in names, emails and texts; a review shows no phone',
  }

  test('every operation that takes a phone, an email, or a search for them is listed here', async () => {
    const { operations } = await loadRegistry()
    const found = operations
      .filter(({ spec }) => {
        const { params: _params, ...inputs } = (spec.input ?? {}) as Record<string, z.ZodTypeAny>
        return /:phone|:email/.test(spec.path) || Object.values(inputs).some((schema) => takesPerson(schema))
      })
      .map(({ spec }) => `${spec.method} ${spec.path}`)
      .sort()
    expect(found).toEqual([...Object.keys(here), ...Object.keys(others)].sort())
  })
})

/** A field named for a contact, or a search text. */
function takesPerson(schema: z.ZodTypeAny, depth = 0): boolean {
  if (depth > 8) return false
  const def = schema._def as Record<string, unknown>
  if (typeof def.shape === 'function') {
    return Object.entries((def.shape as () => Record<string, z.ZodTypeAny>)()).some(
      ([name, field]) =>
        (/^(?:phone|email|notifyEmails|contact)$/.test(name) && isText(field)) ||
        (name === 'search' && /phone|email/i.test(field.description ?? '')) ||
        takesPerson(field, depth + 1),
    )
  }
  return [def.innerType, def.schema, def.type].some(
    (inner) => typeof inner === 'object' && inner !== null && takesPerson(inner as z.ZodTypeAny, depth + 1),
  )
}
function isText(schema: z.ZodTypeAny): boolean {
  const { typeName, innerType, schema: within, type } = schema._def as Record<string, unknown>
  if (typeName === 'ZodString') return true
  return [innerType, within, type].some(
    (inner) => typeof inner === 'object' && inner !== null && isText(inner as z.ZodTypeAny),
  )
}

const expectFound = async (find: (search: string) => Promise<number>, searches: readonly string[]) => {
  const found: Record<string, number> = {}
  for (const search of searches) found[search] = await find(search)
  expect(found).toEqual(Object.fromEntries(searches.map((search) => [search, 1])))
}
const searches = [...spellings, ...parts].filter((text) => text.length <= 40)

describe.each(stored)('stored as %s', (phone) => {
  test('opt-outs', async () => {
    const shop = await store(app)
    const add = async (text: string) => (await shop.call(addOptOut, { body: { phone: text } })).status
    expect(await add(phone)).toBe(201)
    expect(await add('+55 21 98765-1111')).toBe(201)
    for (const text of spellings) expect([text, await add(text)]).toEqual([text, 409])
    await expectFound(
      async (search) => (await shop.call(listOptOuts, { query: { search } })).body.total ?? -1,
      searches,
    )
    expect((await shop.call(listOptOuts, { query: { search: 'abc' } })).status).toBe(400)
    for (const text of spellings) {
      expect([text, (await shop.call(deleteOptOut, { params: { phone: text } })).status]).toEqual([text, 204])
      expect(await add(phone)).toBe(201)
    }
    expect([...(await findOptedOut(await shop.context(), [...stored]))]).toEqual(['+5511987654321'])
  })

  test('contacts of a list', async () => {
    const shop = await store(app)
    const { id } = (await shop.call(createList, { body: { name: 'All' } })).body
    const add = async (body: object) => (await shop.call(addContact, { params: { id }, body })).status
    expect(await add({ phone, email: 'Ana@Example.com' })).toBe(201)
    expect(await add({ phone: '+5521987651111' })).toBe(201)
    for (const text of spellings) expect([text, await add({ phone: text })]).toEqual([text, 409])
    await expectFound(
      async (search) => (await shop.call(listContacts, { params: { id }, query: { search } })).body.total,
      searches,
    )
    const rows = spellings.map((text) => [text, 'Ana'])
    const body = { columns: ['phone', 'name'], rows }
    expect((await shop.call(importCsv, { params: { id }, body })).status).toBe(202)
    await app.drainJobs()
    expect((await shop.call(listContacts, { params: { id } })).body).toMatchObject({ total: 2 })
    await shop.call(addOptOut, { body: { phone: spellings[3] } })
    const { data } = (await shop.call(listContacts, { params: { id }, query: { optedOut: true } })).body
    expect(data).toMatchObject([{ phone, optedOut: true }])
  })

  test('conversations', async () => {
    const shop = await inboxShop(app)
    await shop.write({ phone, type: 'text', text: 'Oi' })
    await shop.write({ phone: '+5521987651111', type: 'text', text: 'Oi' })
    for (const text of stored) await shop.write({ phone: text, type: 'text', text: 'De novo' })
    expect((await shop.call(listConversations)).body.total).toBe(2)
    await expectFound(
      async (search) => (await shop.call(listConversations, { query: { search } })).body.total,
      searches,
    )
  })

  test('subscribers and their consent', async () => {
    const fields = {
      email: { enabled: true, required: false },
      phone: { enabled: true, required: false },
      name: { enabled: true, required: false },
    }
    const shop = await popupShop(app, { fields, consentRequired: false })
    expect((await shop.subscribe({ phone, consent: false })).status).toBe(201)
    for (const text of spellings.slice(0, -1)) {
      const again = await shop.subscribe({ phone: text, consent: false })
      expect([text, again.status, again.body.status]).toEqual([text, 200, 'already-subscribed'])
    }
    // Consent given under another spelling is this person's consent.
    await shop.subscribe({ phone: stored.find((each) => each !== phone), consent: true })
    expect(await readSubscribers(shop)).toMatchObject([{ phone, consent_phone: true }])
    await expectFound(
      async (search) => (await read(shop, '/newsletter/all-suscribers', search)).body.total,
      searches,
    )
  })

  test('submissions', async () => {
    const shop = await formShop(app)
    const { id } = (await shop.call(createList, { body: { name: 'VIP' } })).body
    expect((await shop.call(updateForm, { body: { crmListId: id } })).status).toBe(200)
    const values = { name: 'Ana', email: 'ana@example.com', message: 'Oi' }
    expect((await shop.send({ ...values, phone })).status).toBe(201)
    await expectFound(
      async (search) => (await read(shop, '/contact-form/submissions', search)).body.total,
      searches,
    )
    for (const text of spellings) await shop.send({ ...values, phone: text })
    expect((await shop.call(listContacts, { params: { id } })).body.total).toBe(1)
  })

  test('stock subscriptions', async () => {
    const shop = await stockShop(app, { connection: null })
    expect((await shop.ask({ phone })).status).toBe(201)
    for (const text of spellings)
      expect([text, (await shop.ask({ phone: text })).status]).toEqual([text, 409])
    await expectFound(
      async (search) => (await read(shop, '/stock-notifications/list', search, { status: 'all' })).body.total,
      searches,
    )
  })

  test('orders', async () => {
    const shop = await connectedStore(app)
    await shop.sell({ customer: { name: 'Ana', email: 'ana@example.com', phone } })
    await expectFound(
      async (search) =>
        (await read(shop, '/analytics/orders', search, { startDate: '2026-11-01', endDate: '2026-11-30' }))
          .body.total,
      searches,
    )
  })
})

test('a campaign`s messages', async () => {
  const shop = await sendingShop(app)
  const listId = await shop.list([{ phone: '+551187654321' }, { phone: '+5521987651115' }])
  const id = await shop.draft(listId)
  expect((await shop.call(sendCampaign, { params: { id } })).status).toBe(202)
  await app.drainJobs()
  await expectFound(
    async (search) => (await read(shop, `/campaigns/${id}/messages`, search)).body.total,
    searches,
  )
})

test('exchanges: the shopper by each spelling of their contact, and the merchant`s search', async () => {
  const shop = await exchangeShop(app)
  const order = await shop.delivered({ customer: { ...ana, phone: '+551187654321' } })
  for (const contact of [...spellings, ...addresses]) {
    expect([contact, (await shop.lookup(order, contact)).status]).toEqual([contact, 200])
  }
  for (const contact of ['+5521987654321', 'bea@example.com', '@', '']) {
    expect([contact, (await shop.lookup(order, contact)).status]).not.toEqual([contact, 200])
  }
  expect((await shop.ask(order, { sessionToken: await shop.session(order) })).status).toBe(201)
  await expectFound(
    async (search) => (await read(shop, '/product-exchanges/requests', search)).body.total,
    [...searches, ...addresses.map((address) => address.trim())],
  )
})

test('review requests', async () => {
  const shop = await reviewShop(app)
  await shop.settings({ request: { delayDays: 5 } })
  const customer = { name: 'Ana', email: 'ana@example.com', phone: '+551187654321' }
  const order = await shop.sell({ customer, items: [{ variantId: '2001', quantity: 1 }] })
  await shop.resell(order, { fulfillmentStatus: 'delivered' })
  await expectFound(
    async (search) => (await read(shop, '/product-reviews/dispatches', search, { status: 'all' })).body.total,
    searches,
  )
})

test('phones paired with the assistant', async () => {
  const shop = await store(app)
  const ctx = await shop.context()
  for (const text of spellings) {
    await ctx.db
      .insertInto('chat_agent_bindings')
      .values({
        phone_key: '+5511987654321',
        phone: '+551187654321',
        name: 'X',
        user_id: shop.userId,
        paired_at: ctx.now(),
      })
      .execute()
    const gone = await shop.call(deleteBinding, { params: { phone: text } })
    expect([text, gone.status]).toEqual([text, 204])
  }
})

describe('concurrently, each time spelled differently', () => {
  const statuses = async (answers: Promise<{ status: number }>[]) =>
    (await Promise.all(answers)).map((answer) => answer.status).sort()
  const once = (first: number, others: number, of: readonly string[]) =>
    [first, ...of.slice(1).map(() => others)].sort()

  test('a person subscribes once', async () => {
    const shop = await popupShop(app, {})
    expect(await statuses(addresses.map((email) => shop.subscribe({ email })))).toEqual(
      once(201, 200, addresses),
    )
    expect(await readSubscribers(shop)).toHaveLength(1)
    const phones = spellings.slice(0, -1)
    const fields = {
      email: { enabled: true, required: false },
      phone: { enabled: true, required: false },
    }
    const other = await popupShop(app, { fields })
    expect(await statuses(phones.map((phone) => other.subscribe({ phone })))).toEqual(once(201, 200, phones))
    expect(await readSubscribers(other)).toHaveLength(1)
  })

  test('a person waits for stock once, is one contact, one opt-out and one invitation', async () => {
    const stock = await stockShop(app, { connection: null })
    expect(await statuses(addresses.map((email) => stock.ask({ email })))).toEqual(once(201, 409, addresses))
    expect(await statuses(spellings.map((phone) => stock.ask({ phone })))).toEqual(once(201, 409, spellings))
    const shop = await store(app)
    const { id } = (await shop.call(createList, { body: { name: 'All' } })).body
    const added = spellings.map((phone) => shop.call(addContact, { params: { id }, body: { phone } }))
    expect(await statuses(added)).toEqual(once(201, 409, spellings))
    await Promise.all(spellings.map((phone) => shop.call(addOptOut, { body: { phone } })))
    expect((await shop.call(listOptOuts)).body.total).toBe(1)
    const invited = addresses.map((email) =>
      shop.request('POST', '/stores/team/invitations', { body: { email, role: 'agent' } }),
    )
    expect(await statuses(invited)).toEqual(once(201, 409, addresses))
  })
})
