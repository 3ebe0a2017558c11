/** Who waits for what: read, listed, deleted. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject, moneyOf } from '#runtime/database/json'
import { pagesOf } from '#runtime/database/list'
import { findRow, preparedOne } from '#runtime/database/rows'
import { containing, phoneContaining, phoneLike } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { refuseCrossedDays } from '#runtime/values/days'
import type { SubscriptionQuery } from '../subscription-schema.ts'

const noSuch = 'There is no such subscription'
export const noSuchSubscription = () => refuse('not_found', noSuch)

const subscriptionJson = jsonObject({
  id: 's.id',
  productId: 's.product_id',
  variantId: 's.variant_id',
  productName: 's.product_name',
  variantName: 's.variant_name',
  sku: 's.sku',
  productUrl: 's.product_url',
  productImageUrl: 's.product_image_url',
  channel: 's.channel',
  email: 's.email',
  phone: 's.phone',
  name: 's.name',
  source: 's.source',
  status: 's.status',
  reason: 's.reason',
  sentAt: instantOf('s.sent_at'),
  deliveredAt: instantOf('s.delivered_at'),
  convertedAt: instantOf('s.converted_at'),
  convertedOrderId: 's.converted_order_id',
  revenue: moneyOf('s.revenue'),
  currency: 's.currency',
  createdAt: instantOf('s.created_at'),
  updatedAt: instantOf('s.updated_at'),
})

/** One subscription; a deleted one is not found. */
export const getSubscription = preparedOne(noSuch, (db, { id }) => ({
  rows: db.selectFrom('stock_subscriptions as s').where('s.id', '=', id).where('s.deleted_at', 'is', null),
  item: subscriptionJson,
}))

/** As the prepared texts take them: which are there decides the text. */
interface Conditions {
  status?: string
  statuses?: string[]
  channel?: string
  productId?: string
  variantId?: string
  search?: string
  digits?: string[]
  from?: string
  to?: string
  timezone?: string
  oldest?: true
}

const day = (value: unknown) => sql`${value}::date`
const zone = (value: unknown) => sql`${value}::text`

export const orders = {
  newest: [
    ['s.created_at', 'desc'],
    ['s.id', 'desc'],
  ],
  oldest: [
    ['s.created_at', 'asc'],
    ['s.id', 'asc'],
  ],
} as const

/** Refuses a range that is turned around. */
export const subscriptions = {
  filters(ctx: Context, query: SubscriptionQuery): Conditions {
    const { channel, productId, variantId, search, startDate, endDate, sort } = query
    refuseCrossedDays({ startDate, endDate })
    const digits = search === undefined ? null : phoneContaining(search, ctx.store.country)
    const statuses = query.status.includes('all') ? [] : [...new Set(query.status)]
    return {
      ...(statuses.length === 1 ? { status: statuses[0]! } : {}),
      ...(statuses.length > 1 ? { statuses } : {}),
      ...(channel ? { channel } : {}),
      ...(productId ? { productId } : {}),
      ...(variantId ? { variantId } : {}),
      ...(search === undefined ? {} : { search: containing(search) }),
      ...(digits === null ? {} : { digits }),
      ...(startDate ? { from: startDate } : {}),
      ...(endDate ? { to: endDate } : {}),
      ...(startDate || endDate ? { timezone: ctx.store.timezone } : {}),
      ...(sort === 'oldest' ? { oldest: true as const } : {}),
    }
  },
  rows(db: Kysely<TenantTables>, values: Required<Conditions>, has: (name: keyof Conditions) => boolean) {
    let rows = db.selectFrom('stock_subscriptions as s').where('s.deleted_at', 'is', null)
    if (has('status')) rows = rows.where('s.status', '=', values.status)
    if (has('statuses')) rows = rows.where(sql<boolean>`s.status = any(${values.statuses}::text[])`)
    if (has('channel')) rows = rows.where('s.channel', '=', values.channel)
    if (has('productId')) rows = rows.where('s.product_id', '=', values.productId)
    if (has('variantId')) rows = rows.where('s.variant_id', '=', values.variantId)
    if (has('search')) {
      rows = rows.where(
        sql<boolean>`(lower(s.email) like lower(${values.search}::text) or lower(s.name) like lower(${values.search}::text)
          or lower(s.product_name) like lower(${values.search}::text)
          ${has('digits') ? sql`or ${phoneLike('s.phone', values.digits)}` : sql``})`,
      )
    }
    const firstOf = (value: unknown, next = 0) =>
      days.firstInstantOf(sql`(${day(value)} + ${sql.lit(next)})`, zone(values.timezone))
    if (has('from')) rows = rows.where(sql<boolean>`s.created_at >= ${firstOf(values.from)}`)
    if (has('to')) rows = rows.where(sql<boolean>`s.created_at < ${firstOf(values.to, 1)}`)
    return rows
  },
  order: (has: (name: keyof Conditions) => boolean) => (has('oldest') ? orders.oldest : orders.newest),
}

/** A page of subscriptions. */
export const listSubscriptions = pagesOf(
  subscriptions,
  () => ({ item: subscriptionJson, page: 's', table: 'stock_subscriptions' }),
  { text: ['search'] },
)

/**
 * Takes a subscription out of every read and erases who it was of; the numbers keep it. Refuses an unknown one, and
 * one whose alert is on its way.
 */
export async function deleteSubscription(ctx: Context, id: string): Promise<void> {
  const now = ctx.now()
  const deleted = ctx.db
    .updateTable('stock_subscriptions')
    .set({
      deleted_at: now,
      email: null,
      phone: null,
      contact_key: null,
      name: null,
      status: sql<string>`case status when 'waiting' then 'cancelled' else status end`,
      updated_at: now,
    })
    .where('deleted_at', 'is', null)
    .where('status', '!=', 'sending')
    .returning('id')
  if (await findRow(deleted, id)) return
  await getSubscription(ctx, id)
  throw refuse('conflict', 'The alert is on its way: delete the subscription once it has left')
}
