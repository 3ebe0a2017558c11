/** Who waits for what: read, listed, deleted. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject, moneyOf } from '#runtime/database/json'
import { pagesOf } from '#runtime/database/list'
import { findRow, preparedOne } from '#runtime/database/rows'
import { isFound, type Sought, sought } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import { given } from '#runtime/values/changes'
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
export const getSubscription = preparedOne(noSuchSubscription, (db, { id }) => ({
  rows: db.selectFrom('stock_subscriptions as s').where('s.id', '=', id).where('s.deleted_at', 'is', null),
  item: subscriptionJson,
}))

/** As the prepared texts take them: which are there decides the text. */
interface Conditions extends Sought, days.GivenDays {
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

/** Refuses a range that is turned around. */
export const subscriptions = {
  filters(ctx: Context, query: SubscriptionQuery): Conditions {
    const { channel, productId, variantId, search, sort } = query
    const statuses = query.status.includes('all') ? [] : [...new Set(query.status)]
    return {
      ...(statuses.length === 1 ? { status: statuses[0]! } : {}),
      ...(statuses.length > 1 ? { statuses } : {}),
      ...given({ channel, productId, variantId }),
      ...sought(ctx, search),
      ...days.givenDays(ctx, query),
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
      rows = rows.where(isFound(['s.email', 's.name', 's.product_name'], 's.phone', values, has))
    }
    if (has('startDate')) rows = rows.where(days.isWithinDays('s.created_at', values))
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
