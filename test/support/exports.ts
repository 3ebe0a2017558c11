/** Test data of each export: its request, how to create rows, and the filters of its list. */
import { newId } from '#runtime/values/ids'
import type { TestApp } from './app.ts'
import type { Shop } from './store.ts'

type Values = Record<string, unknown>
export type Query = Record<string, string | number | boolean | undefined>

export interface World {
  /** Paths below /v1, of the export and of the list with the same rows. */
  exportPath: string
  lists?: string
  /** Parameters of every request. */
  exportQuery?: Query
  /** The list's parameters, if they differ. */
  listQuery?: Query
  header: string
  /** Creates row `n`, whose names contain `n`; called once per start date. */
  make(shop: Shop, n: number, begun: string): Promise<void>
  begin?(shop: Shop): Promise<string>
  /** The column that identifies a row, and its name in the list. */
  key: string
  listKey?: string
  /** The column that identifies a list entry, if the export has several rows per entry. */
  listed?: string
  /** Together they use every filter; each matches some rows but not all. */
  filters: (shop: Shop, begun: string) => Query[]
  /** Sorted differently from the list. */
  isSortedOtherwise?: true
  /** Consists of figures, whose order has no index. */
  isCounted?: true
}

/** Some at the same instant, some a microsecond apart, on three days. */
const makeInstant = (n: number): string => `2026-11-${20 - (n % 3)} 12:00:00.00000${n % 2}+00`
/** A searchable text, whatever the row; some contain what CSV must quote. */
const named = (n: number): string =>
  `Ana ${n % 2 === 0 ? 'even' : 'odd'} ${n}${['', '\n"Bia"; Reis', ', \r\t=1', ''][n % 4]}`
const makePhone = (n: number): string => `+551198888${String(1000 + n)}`
const makeEmail = (n: number): string => `shopper-${n}@example.com`

const required = new WeakMap<TestApp, Promise<Map<string, Values>>>()

/** Values for the required columns of a table. */
async function readRequired(app: TestApp, table: string): Promise<Values> {
  let known = required.get(app)
  if (!known) {
    known = app.database
      .query<{ table_name: string; column_name: string; data_type: string }>(
        `select table_name, column_name, data_type from information_schema.columns where table_schema = 'public'
         and is_nullable = 'NO' and column_default is null and is_generated = 'NEVER'`,
        [],
      )
      .then((columns) => {
        const tables = new Map<string, Values>()
        for (const { table_name: name, column_name: column, data_type: type } of columns) {
          const values = tables.get(name) ?? {}
          values[column] = fillers[type] ?? ''
          tables.set(name, values)
        }
        return tables
      })
    required.set(app, known)
  }
  return (await known).get(table)!
}
const fillers: Values = {
  'timestamp with time zone': '2026-11-20T12:00:00Z',
  integer: 1,
  smallint: 1,
  numeric: '10.00',
  boolean: false,
  jsonb: '{}',
  ARRAY: [],
}

/** Inserts a row with its own id; returns the id. */
async function insert({ app, id: storeId }: Shop, table: string, values: Values): Promise<string> {
  const needed = await readRequired(app, table)
  const id = newId(app.clock.ms())
  const row = { ...needed, ...('id' in needed ? { id } : {}), store_id: storeId, ...values }
  await app.database.root
    .insertInto(table as never)
    .values(row as never)
    .execute()
  return String(row.id ?? id)
}

const ofDays = [{ startDate: '2026-11-19' }, { endDate: '2026-11-19' }]

export const worlds: Readonly<Record<string, World>> = {
  'opt-outs-export': {
    exportPath: '/campaigns/opt-outs/export',
    lists: '/campaigns/opt-outs',
    header: 'phone,source,note,campaign,created_at',
    async make(shop, n) {
      const campaign =
        n % 2 === 0 ? await insert(shop, 'campaigns', { name: named(n), status: 'sent' }) : null
      const phone = makePhone(n)
      const source = n % 2 === 0 ? 'manual' : 'reply'
      await insert(shop, 'opt_outs', {
        phone,
        phone_key: phone,
        source,
        note: named(n),
        campaign_id: campaign,
      })
    },
    key: 'phone',
    filters: () => [{ source: 'reply' }, { search: '88881003' }],
  },
  'contacts-export': {
    exportPath: '/campaigns/lists/:id/contacts/export',
    lists: '/campaigns/lists/:id/contacts',
    header: 'phone,name,email,source,opted_out,created_at,toString,customFields.source,whatsapp_user_id',
    begin: (shop) =>
      insert(shop, 'contact_lists', { name: 'All', custom_field_names: ['toString', 'source'] }),
    async make(shop, n, list) {
      const phone = makePhone(n)
      const own: object = n % 2 === 0 ? { source: 'of its own', toString: '=1' } : {}
      await insert(shop, 'list_contacts', {
        list_id: list,
        phone,
        phone_key: phone,
        name: named(n),
        email: makeEmail(n),
        custom_fields: JSON.stringify(own),
        source: 'csv',
      })
      if (n % 2 === 0) await insert(shop, 'opt_outs', { phone, phone_key: phone, source: 'manual' })
      await shop.app.database.query('update contact_lists set size = size + 1 where id = $1', [list])
    },
    key: 'phone',
    filters: () => [{ optedOut: true }, { optedOut: false }, { search: 'odd' }],
  },
  'newsletter-export': {
    exportPath: '/newsletter/export-subscribers',
    lists: '/newsletter/all-suscribers',
    header:
      'email,phone,name,status,source,consent_email,consent_phone,prize,coupon_code,page_url,device,created_at,unsubscribed_at',
    async make(shop, n) {
      await insert(shop, 'newsletter_subscribers', {
        email: makeEmail(n),
        phone: makePhone(n),
        phone_key: makePhone(n),
        name: named(n),
        status: n % 2 === 0 ? 'subscribed' : 'unsubscribed',
        source: 'popup',
        prize_label: n % 2 === 0 ? '-10%' : null,
        unsubscribed_at: n % 2 === 0 ? null : makeInstant(n),
        created_at: makeInstant(n),
      })
    },
    key: 'email',
    filters: () => [{ status: 'unsubscribed' }, { search: 'odd' }, ...ofDays],
  },
  'contact-form-export': {
    exportPath: '/contact-form/submissions/export',
    lists: '/contact-form/submissions',
    header: 'created_at,name,email,phone,message,page_url,toString,wants',
    async make(shop, n) {
      await insert(shop, 'contact_form_submissions', {
        name: named(n),
        email: makeEmail(n),
        phone: makePhone(n),
        message: '@all',
        values: JSON.stringify(n % 2 === 0 ? { toString: 'said', wants: true } : { wants: '' }),
        created_at: makeInstant(n),
      })
    },
    key: 'email',
    filters: () => [{ search: 'odd' }, ...ofDays],
  },
  'inbox-export': {
    exportPath: '/inbox/export',
    lists: '/inbox/conversations',
    header:
      'id,contact_name,phone,status,assignee,tags,tier,unread,messages,last_message_at,last_message,waiting_since,closed_at,created_at,whatsapp_user_id',
    begin: (shop) => insert(shop, 'inbox_tags', { name: 'Urgent', color: '#ff0000' }),
    async make(shop, n, tag) {
      const isOdd = n % 2 === 1
      const tier = isOdd ? 'vip' : null
      const contact = await insert(shop, 'contacts', {
        phone: makePhone(n),
        phone_key: makePhone(n),
        given_name: n % 3 === 0 ? named(n) : null,
        profile_name: named(n),
        search_text: named(n).toLowerCase(),
        tier,
      })
      const conversation = await insert(shop, 'conversations', {
        contact_id: contact,
        status: isOdd ? 'open' : 'closed',
        unread_count: isOdd ? 2 : 0,
        pinned_at: isOdd ? makeInstant(n) : null,
        assignee_id: isOdd ? shop.userId : null,
        assignee_name: isOdd ? 'Olivia' : null,
        tier,
        waiting_since: isOdd ? makeInstant(n) : null,
        last_inbound_at: isOdd ? shop.app.clock.now() : null,
        last_message_at: makeInstant(n),
        last_message_preview: '+1',
        updated_at: isOdd ? shop.app.clock.now() : '2026-10-01T00:00:00Z',
      })
      if (!isOdd) return
      for (const id of [tag, await insert(shop, 'inbox_tags', { name: `New ${n}`, color: '#00ff00' })]) {
        await insert(shop, 'inbox_conversation_tags', { conversation_id: conversation, tag_id: id })
      }
    },
    key: 'id',
    isSortedOtherwise: true,
    filters: (shop, tag) => [
      { status: 'open' },
      { assignee: 'me' },
      { assignee: 'none' },
      { assignee: shop.userId },
      { tag },
      { unread: true },
      { pinned: false },
      { waiting: true },
      { windowOpen: true },
      { tier: 'vip' },
      { tier: 'none' },
      { search: 'odd' },
      { updatedSince: '2026-11-01T00:00:00Z' },
      ...ofDays,
    ],
  },
  'stock-export': {
    exportPath: '/stock-notifications/export',
    lists: '/stock-notifications/list',
    listQuery: { status: 'all' },
    header:
      'id,product_id,variant_id,product,variant,sku,channel,email,phone,name,status,created_at,sent_at,converted_at',
    async make(shop, n) {
      const odd = n % 2
      await insert(shop, 'stock_subscriptions', {
        product_id: `p${odd}`,
        variant_id: `v${odd}`,
        product_name: 'Caneca',
        channel: odd ? 'email' : 'phone',
        email: odd ? makeEmail(n) : null,
        phone: odd ? null : makePhone(n),
        contact_key: makeEmail(n),
        name: named(n),
        source: 'product-page',
        status: odd ? 'sent' : 'waiting',
        created_at: makeInstant(n),
      })
    },
    key: 'id',
    filters: () => [
      { status: 'sent' },
      { channel: 'phone' },
      { productId: 'p1' },
      { variantId: 'v0' },
      { search: 'odd' },
      { sort: 'oldest', status: 'waiting' },
      ...ofDays,
    ],
  },
  'review-export': {
    exportPath: '/product-reviews/export',
    lists: '/product-reviews/list',
    header:
      'id,product_id,product_name,rating,title,text,reviewer_name,reviewer_email,review_date,status,verified,featured,source,picture_urls,reply,reply_date',
    async make(shop, n) {
      const isOdd = n % 2 === 1
      const urls = ['https://a.example/1.png', 'https://a.example/0.png']
      await insert(shop, 'product_reviews', {
        product_id: isOdd ? 'p1' : 'p0',
        customer_name: named(n),
        customer_email: makeEmail(n),
        rating: isOdd ? 5 : 2,
        text: '=HYPERLINK("https://a.example")',
        images: JSON.stringify(isOdd ? urls.map((url, at) => ({ id: String(at), url })) : []),
        status: isOdd ? 'approved' : 'pending',
        verified: isOdd,
        featured: isOdd,
        reply_text: isOdd ? 'Thanks' : null,
        reply_author: 'Olivia',
        replied_at: isOdd ? makeInstant(n) : null,
        source: isOdd ? 'import' : 'storefront',
        search_text: named(n).toLowerCase(),
        reviewed_at: makeInstant(n),
      })
    },
    key: 'id',
    filters: () => [
      { status: 'approved' },
      { rating: 2 },
      { productId: 'p1' },
      { verified: true },
      { featured: false },
      { hasImages: true },
      { hasReply: false },
      { source: 'import' },
      { search: 'odd' },
      ...ofDays,
    ],
  },
  'conversions-export': {
    exportPath: '/conversions/export',
    lists: '/conversions',
    header:
      'order_number,placed_at,status,source_type,source_name,channel,customer_name,customer_email,customer_phone,products,currency,order_total,refunded,revenue,coupon,touched_at',
    exportQuery: { status: 'all', sourceType: 'automation' },
    make: sell,
    key: 'order_number',
    listKey: 'orderNumber',
    filters: () => [
      { sourceType: 'automation', status: 'confirmed' },
      { sourceType: 'automation', status: 'all', currency: 'EUR' },
      ...ofDays,
    ],
  },
  'statistics-export': {
    exportPath: '/statistics/export',
    lists: '/statistics/products',
    header: 'product_id,name,source_type,orders,units,revenue,currency',
    exportQuery: { type: 'products' },
    listQuery: {},
    make: sell,
    key: 'product_id',
    listKey: 'productId',
    isCounted: true,
    filters: () => [{ currency: 'EUR' }, ...ofDays],
  },
  'exchange-export': {
    exportPath: '/product-exchanges/export',
    lists: '/product-exchanges/requests',
    header:
      'number,type,status,requested_at,order,customer,email,phone,sku,product,variant,quantity,approved,received,reason,comment,unit_price,currency,exchange_for,refund_method,refund_amount,tracking_code,completed_at,rejection_reason',
    async make(shop, n) {
      const isOdd = n % 2 === 1
      const request = await insert(shop, 'exchange_requests', {
        number: `EX-${1000 + n}`,
        type: isOdd ? 'return' : 'exchange',
        status: isOdd ? 'completed' : 'requested',
        order_id: `o${n}`,
        order_number: `#${n}`,
        reasons: [isOdd ? 'broken' : 'size'],
        comment: 'Of the whole',
        currency: 'BRL',
        return_method: 'pickup',
        outside_window: isOdd,
        refund_amount: isOdd ? '30.00' : null,
        search_text: named(n).toLowerCase(),
        created_at: makeInstant(n),
      })
      const variantName = n % 4 === 0 ? 'M' : null
      const wanted = { productId: 'p', variantId: 'v', name: 'Camisa', variantName, unitPrice: 10 }
      for (const position of n % 3 === 0 ? [1, 2] : [1]) {
        await insert(shop, 'exchange_items', {
          request_id: request,
          position,
          sku: `sku-${n}-${position}`,
          name: named(n),
          comment: position === 2 ? 'Its own' : null,
          exchange_for: isOdd ? null : JSON.stringify(wanted),
        })
      }
    },
    key: 'sku',
    listed: 'number',
    listKey: 'number',
    filters: () => [
      { status: 'completed' },
      { type: 'exchange' },
      { reason: 'broken' },
      { outsideWindow: true },
      { search: 'odd' },
      ...ofDays,
    ],
  },
  'wishlist-export': {
    exportPath: '/wishlist/export',
    header: 'email,phone,name,products,productCount,firstAddedAt,lastAddedAt,consent',
    async make(shop, n) {
      // Two browsers of one contact.
      for (const browser of [1, 2]) {
        const visitor = `v-${n}-${browser}`
        const person = { email: makeEmail(n), name: browser === 2 ? named(n) : null, consent: browser === 1 }
        await insert(shop, 'wishlist_visitors', { visitor_id: visitor, ...person })
        await insert(shop, 'wishes', {
          visitor_id: visitor,
          product_id: `p${n}-${browser}`,
          added_at: makeInstant(n),
        })
      }
    },
    key: 'email',
    filters: () => [
      { startDate: '2026-11-19', endDate: '2026-11-21' },
      { startDate: '2026-11-01', endDate: '2026-11-19' },
    ],
  },
}

/** An order that came from a message, with its own product. Rows outside the request are included. */
async function sell(shop: Shop, n: number): Promise<void> {
  // Without sums, figures are calculated from the rows.
  await shop.app.database.query('delete from conversion_zones where store_id = $1', [shop.id])
  const currency = n % 2 === 0 ? 'BRL' : 'EUR'
  for (const source of ['automation', 'newsletter']) {
    const conversion = await insert(shop, 'conversions', {
      order_id: `o${n}-${source}`,
      order_number: `#${n}-${source}`,
      status: n % 2 === 0 || source === 'newsletter' ? 'confirmed' : 'refunded',
      source_type: source,
      source_id: 's',
      source_name: '=Sale',
      channel: 'messaging',
      customer: JSON.stringify({
        id: null,
        name: named(n),
        email: n % 2 === 0 ? makeEmail(n) : null,
        phone: null,
      }),
      currency,
      revenue: `${10 + n}.50`,
      placed_at: makeInstant(n),
    })
    const item = { conversion_id: conversion, product_id: `p${n}`, total: `${10 + n}.50` }
    for (const position of [1, 2]) {
      await insert(shop, 'conversion_items', { ...item, position, name: `${named(n)} / ${position}` })
    }
    await shop.app.database.query(
      `insert into conversion_products (store_id, product_id, name, seen_at) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [shop.id, `p${n}`, named(n), shop.app.clock.now()],
    )
  }
}
