import { sql } from 'kysely'
import type { exports } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { SubscriptionQuery } from '../subscription-schema.ts'
import { conditionsOf, subscriptionRows } from './subscriptions.ts'

const atOnce = 1000

/** In the order of the list. */
export const subscriptionsExport: exports.ExportSource = {
  title: 'Stock alerts',
  columns: () => [
    'id',
    'product_id',
    'variant_id',
    'product',
    'variant',
    'sku',
    'channel',
    'email',
    'phone',
    'name',
    'status',
    'created_at',
    'sent_at',
    'converted_at',
  ],
  async *rows(ctx, query) {
    let after: Place | null = null
    for (;;) {
      const page = await pageAfter(ctx, query as SubscriptionQuery, after)
      yield page.map((row) => [
        row.id,
        row.product_id,
        row.variant_id,
        row.product_name,
        row.variant_name,
        row.sku,
        row.channel,
        row.email,
        row.phone,
        row.name,
        row.status,
        row.created_at,
        row.sent_at,
        row.converted_at,
      ])
      const last = page.at(-1)
      if (!last || page.length < atOnce) return
      after = last
    }
  },
}

interface Place {
  created_at: Date
  id: string
}

function pageAfter(ctx: Context, query: SubscriptionQuery, after: Place | null) {
  const conditions = conditionsOf(ctx, query)
  const isOldest = query.sort === 'oldest'
  const direction = isOldest ? 'asc' : 'desc'
  let rows = subscriptionRows(ctx.db, conditions, (name) => name in conditions).select([
    's.id',
    's.product_id',
    's.variant_id',
    's.product_name',
    's.variant_name',
    's.sku',
    's.channel',
    's.email',
    's.phone',
    's.name',
    's.status',
    's.created_at',
    's.sent_at',
    's.converted_at',
  ])
  if (after) {
    rows = rows.where(
      sql<boolean>`(s.created_at, s.id) ${sql.raw(isOldest ? '>' : '<')} (${after.created_at}::timestamptz, ${after.id}::uuid)`,
    )
  }
  return rows.orderBy('s.created_at', direction).orderBy('s.id', direction).limit(atOnce).execute()
}
