/** Lists and exports conversions. */
import { type Kysely, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { days } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject, moneyNumber } from '#runtime/database/json'
import { preparedPages } from '#runtime/database/list'
import { omitUndefined } from '#runtime/values/changes'

export interface ConversionFilters extends days.DayRangeQuery {
  sourceType?: string | undefined
  sourceId?: string | undefined
  /** Statuses to include, or `all`. */
  status?: string[] | undefined
  currency?: string | undefined
}

const productsJson = (db: Kysely<TenantTables>) =>
  db
    .selectFrom('conversion_items as i')
    .select(
      sql`coalesce(json_agg(${jsonObject({
        productId: 'i.product_id',
        variantId: 'i.variant_id',
        name: 'i.name',
        sku: 'i.sku',
        imageUrl: 'i.image_url',
        quantity: 'i.quantity',
        unitPrice: moneyNumber('i.unit_price'),
        total: moneyNumber('i.total'),
        refundedTotal: moneyNumber('i.refunded_total'),
      })} order by i.position), '[]')`.as('json'),
    )
    .where('i.conversion_id', '=', sql.ref<string>('c.id'))

/** The JSON of a conversion; the query must use the alias `c` for `conversions`. */
const conversionJson = (db: Kysely<TenantTables>) =>
  jsonObject({
    id: 'c.id',
    orderId: 'c.order_id',
    orderNumber: 'c.order_number',
    status: 'c.status',
    sourceType: 'c.source_type',
    sourceId: 'c.source_id',
    sourceName: 'c.source_name',
    automationType: 'c.automation_type',
    channel: 'c.channel',
    messageId: 'c.message_id',
    customer: 'c.customer',
    products: sql`(${productsJson(db)})`,
    currency: 'c.currency',
    orderTotal: moneyNumber('c.order_total'),
    refundedTotal: moneyNumber('c.refunded_total'),
    revenue: moneyNumber('c.revenue'),
    couponCode: 'c.coupon_code',
    touchedAt: isoInstant('c.touched_at'),
    placedAt: isoInstant('c.placed_at'),
    paidAt: isoInstant('c.paid_at'),
    createdAt: isoInstant('c.created_at'),
    updatedAt: isoInstant('c.updated_at'),
  })

interface Selected extends days.DayRange, Omit<ConversionFilters, keyof days.DayRange> {
  timezone: string
}

const counted = ['confirmed', 'partially-refunded']

/** The query shared by the list and the export: newest order first. Refuses a range of more than 731 days. */
export const conversions = {
  filters(ctx: Context, filters: ConversionFilters): Selected {
    const { status = counted, sourceType, sourceId, currency } = filters
    return {
      ...days.parseDayRange(ctx, filters, 731),
      timezone: ctx.store.timezone,
      ...omitUndefined({ sourceType, sourceId: sourceId || undefined, currency }),
      ...(status.includes('all') ? {} : { status: [...new Set(status)].sort() }),
    }
  },
  rows(db: Kysely<TenantTables>, values: Required<Selected>, has: (name: keyof Selected) => boolean) {
    let rows = db.selectFrom('conversions as c').where(days.isWithin('c.placed_at', values))
    if (has('sourceType')) rows = rows.where('c.source_type', '=', values.sourceType!)
    if (has('sourceId')) rows = rows.where('c.source_id', '=', values.sourceId!)
    if (has('currency')) rows = rows.where('c.currency', '=', values.currency!)
    if (has('status')) rows = rows.where(sql<boolean>`c.status = any(${values.status}::text[])`)
    return rows
  },
  order: [
    ['c.placed_at', 'desc'],
    ['c.id', 'desc'],
  ],
} as const

export const listConversions = preparedPages(conversions, (db) => ({ item: conversionJson(db), page: 'c' }))
