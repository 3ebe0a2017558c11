/** Reads, lists and deletes stock subscriptions. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject, moneyNumber } from '#runtime/database/json'
import { preparedPages } from '#runtime/database/list'
import { findRow, preparedOne } from '#runtime/database/rows'
import { matchesSearch, type SearchFilter, toSearchFilter } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { omitUndefined } from '#runtime/values/changes'
import type { SubscriptionQuery } from '../subscription-schema.ts'

export const noSuchSubscription = 'There is no such subscription'

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
  sentAt: isoInstant('s.sent_at'),
  deliveredAt: isoInstant('s.delivered_at'),
  convertedAt: isoInstant('s.converted_at'),
  convertedOrderId: 's.converted_order_id',
  revenue: moneyNumber('s.revenue'),
  currency: 's.currency',
  createdAt: isoInstant('s.created_at'),
  updatedAt: isoInstant('s.updated_at'),
})

/** Reads a subscription. Refuses an unknown or deleted one. */
export const getSubscription = preparedOne(noSuchSubscription, (db, { id }) => ({
  rows: db.selectFrom('stock_subscriptions as s').where('s.id', '=', id).where('s.deleted_at', 'is', null),
  item: subscriptionJson,
}))

/** Parameters of the prepared statements. Which of them are present decides which statement runs. */
interface Conditions extends SearchFilter, days.DayFilter {
  status?: string
  statuses?: string[]
  channel?: string
  productId?: string
  variantId?: string
  oldest?: true
}

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

/** The query for the list and the export of subscriptions. Refuses a range whose end is before its start. */
export const subscriptions = {
  filters(ctx: Context, query: SubscriptionQuery): Conditions {
    const { channel, productId, variantId, search, sort } = query
    const statuses = query.status.includes('all') ? [] : [...new Set(query.status)]
    return {
      ...(statuses.length === 1 ? { status: statuses[0]! } : {}),
      ...(statuses.length > 1 ? { statuses } : {}),
      ...omitUndefined({ channel, productId, variantId }),
      ...toSearchFilter(ctx, search),
      ...days.toDayFilter(ctx, query),
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
      rows = rows.where(matchesSearch(['s.email', 's.name', 's.product_name'], 's.phone', values, has))
    }
    if (has('startDate')) rows = rows.where(days.isWithinDays('s.created_at', values))
    return rows
  },
  order: (has: (name: keyof Conditions) => boolean) => (has('oldest') ? orders.oldest : orders.newest),
}

export const listSubscriptions = preparedPages(
  subscriptions,
  () => ({ item: subscriptionJson, page: 's', table: 'stock_subscriptions' }),
  { text: ['search'] },
)

/**
 * Deletes a subscription: erases its name and contact and keeps the row, which every read hides but the metrics still
 * count. Refuses an unknown subscription, and a subscription whose alert is being sent.
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
      status: sql<string>`case when status = 'waiting' then 'cancelled' else status end`,
      updated_at: now,
    })
    .where('deleted_at', 'is', null)
    .where('status', '!=', 'sending')
    .returning('id')
  if (await findRow(deleted, id)) return
  await getSubscription(ctx, id)
  throw refuse('conflict', 'The alert is on its way: delete the subscription once it has left')
}
