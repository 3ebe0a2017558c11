/**
 * Every text search returns the same result with a custom plan and with the generic plan for few rows, and finds a name
 * in whatever form somebody types it.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { seedDemo } from '#scripts/seed/demo'
import { testApp } from '#test/support/app'

const app = await testApp()
const { keys, storeId } = await seed()

async function seed() {
  const { keys } = await seedDemo(app.services, 'owner')
  const [row] = await app.database.query<{ id: string }>('select id from stores where slug = $1', [
    keys[0]!.store,
  ])
  return { keys, storeId: row!.id }
}

const searched = app.registry.operations.filter(({ spec }) => {
  const query = spec.input?.query as { shape?: object } | undefined
  return 'search' in (query?.shape ?? {})
})

test('every list returns the same search results the second time, on every page', async () => {
  const authorization = `Bearer ${keys[0]!.key}`
  const lists = searched.filter(({ parameters }) => parameters.length === 0)
  expect(lists.length).toBeGreaterThan(10)
  const found: string[] = []
  for (const { spec, id } of lists) {
    for (const search of ['9', 'an', 'ca', 'zzzz']) {
      for (const page of [1, 2]) {
        const answers: string[] = []
        for (let times = 0; times < 3; times += 1) {
          const response = await app.fetch(
            new Request(`http://localhost/v1${spec.path}?search=${search}&limit=3&page=${page}`, {
              headers: { authorization },
            }),
          )
          answers.push(`${response.status} ${await response.text()}`)
        }
        expect(new Set(answers).size, `${id} ${search} ${page}`).toBe(1)
        if (/"total":[1-9]/.test(answers[0]!)) found.push(id)
      }
    }
  }
  // Searches without results would prove nothing.
  expect(new Set(found).size).toBeGreaterThan(lists.length / 2)
})

/** The place in which each operation finds a name: SET of an update that gives it to rows (`$1`), and the rows if not all may have it. */
const one = (table: string, condition = 'true') =>
  `id = (select id from ${table} where store_id = $2 and ${condition} order by id limit 1)`
const held: Record<string, [table: string, set: string, condition?: string]> = {
  get_ecomplatform_products: [
    'sandbox_objects',
    `data = data || jsonb_build_object('name', $1::text)`,
    `kind = 'product'`,
  ],
  get_ecomplatform_categories: [
    'sandbox_objects',
    `data = data || jsonb_build_object('name', $1::text)`,
    `kind = 'category'`,
  ],
  get_statistics_products: ['conversion_products', 'name = $1'],
  get_analytics_orders: ['orders', 'customer_name = $1'],
  get_messaging_templates: ['message_templates', 'body = $1'],
  get_automations: ['automations', 'name = $1', one('automations', 'deleted_at is null')],
  get_campaigns_lists: ['contact_lists', 'name = $1', one('contact_lists')],
  get_campaigns_lists_by_id_contacts: ['list_contacts', 'name = $1'],
  get_campaigns: ['campaigns', 'name = $1'],
  get_campaigns_by_id_messages: ['campaign_messages', 'name = $1'],
  get_inbox_conversations: ['contacts', 'search_text = fold_text($1)'],
  get_inbox_quick_replies: ['inbox_quick_replies', 'title = $1'],
  get_newsletter_all_suscribers: ['newsletter_subscribers', 'name = $1'],
  get_contact_form_submissions: ['contact_form_submissions', 'name = $1'],
  get_product_reviews_list: ['product_reviews', 'search_text = fold_text($1)'],
  get_product_reviews_dispatches: ['review_dispatches', 'search_text = fold_text($1)'],
  get_stock_notifications_list: ['stock_subscriptions', 'name = $1'],
  get_promotions: ['discounts', 'name = $1', one('discounts', `kind = 'promotion'`)],
  get_bundles: ['discounts', 'name = $1', one('discounts', `kind = 'bundle'`)],
  get_shop_the_look_looks: ['looks', 'name = $1'],
  get_size_guides: ['size_guides', 'name = $1'],
  get_product_exchanges_requests: ['exchange_requests', 'search_text = fold_text($1)'],
}
/** They find digits of phones only. */
const phones = ['get_campaigns_opt_outs']
/** Its words are indexed, see the test of the inbox. */
const words = ['get_inbox_conversations_by_id_messages']
const parents: Record<string, string> = {
  get_campaigns_lists_by_id_contacts: 'select list_id as id from list_contacts where store_id = $1 limit 1',
  get_campaigns_by_id_messages: 'select campaign_id as id from campaign_messages where store_id = $1 limit 1',
}

/** Spellings that people type for a name: other forms of its characters, other spaces, another order. */
const wide = (text: string) =>
  text.replace(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))
const forms: ((text: string) => string)[] = [
  (text) => text.normalize('NFD'),
  (text) => text.normalize('NFD').replace(/[\u0300-\u036f]/g, ''),
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  wide,
  (text) => [...text].join('\u200b'),
  (text) => text.split(' ').reverse().join('   '),
  (text) => `\u00a0${text}\u3000`,
  (text) => text.replaceAll('ł', 'l').replaceAll('Ł', 'L').replaceAll('ø', 'o').replaceAll('ı', 'i'),
  (text) =>
    text
      .split(' ')
      .map((word) => [...word].slice(0, 2).join(''))
      .join(' '),
]
const typed = fc
  .tuple(
    fc.constantFrom(
      'Łódź Straße',
      'Ação Pólo Øre',
      'Đorđe Işık',
      '王小明 红色连衣裙',
      'สมชาย ใจดี',
      'Ёжик #1001',
      'O’Neil 50%_off',
    ),
    fc.array(fc.constantFrom(...forms), { maxLength: 3 }),
  )
  .map(([name, chain]) => ({ name, search: chain.reduce<string>((text, form) => form(text), name) }))

test('every search finds a name in any form', async () => {
  const names = new Set(Object.keys(held))
  const lists = searched.filter(({ id }) => !id.includes('export') && ![...phones, ...words].includes(id))
  expect(lists.map(({ id }) => id).filter((id) => !names.has(id))).toEqual([])
  const headers = { authorization: `Bearer ${keys[0]!.key}` }
  for (const { id, spec } of lists) {
    const [table, set, condition = 'true'] = held[id]!
    const parent = parents[id]
    const parentId = parent ? (await app.database.query<{ id: string }>(parent, [storeId]))[0]!.id : ''
    await fc.assert(
      fc.asyncProperty(typed, async ({ name, search }) => {
        const update = `update ${table} set ${set} where store_id = $2 and ${condition}`
        await app.database.query(update, [name, storeId])
        const address = `http://localhost/v1${spec.path.replace(':id', parentId)}?search=${encodeURIComponent(search)}`
        const response = await app.fetch(new Request(address, { headers }))
        const { data } = (await response.json()) as { data?: unknown[] }
        expect([id, response.status, (data ?? []).length > 0]).toEqual([id, 200, true])
      }),
      { numRuns: 12 },
    )
  }
})
