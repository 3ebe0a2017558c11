/** Updates the daily sums, the sold products and the conversion counts of touches when conversions change. */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { recordset } from '#runtime/database/recordset'
import { hundredths } from '#runtime/values/money'
import {
  type ActivityDelta,
  activityAt,
  addActivity,
  addSums,
  type ConversionDelta,
  conversionDays,
  type ProductDelta,
  productDays,
} from '../sums/daily-sums.ts'
import type { ConversionRow } from './attribution.ts'
import type { ConversionDraft, Lines, StoredConversion } from './conversion-draft.ts'

const { toCents, toMoney } = hundredths

type Row = Pick<
  ConversionRow,
  'status' | 'source_type' | 'currency' | 'revenue' | 'automation_type' | 'placed_at' | 'touch_id'
>

const isCounted = (row: Row): boolean => row.status === 'confirmed' || row.status === 'partially-refunded'

/** Subtracts the old rows from the sums and adds the new rows. Runs in the transaction that wrote the conversions. */
export async function updateSums(
  ctx: Context,
  known: ReadonlyMap<string, StoredConversion>,
  written: readonly ConversionDraft[],
  removed: readonly ConversionRow[],
): Promise<void> {
  const sums = new Sums()
  for (const { row, lines } of written) {
    const before = known.get(row.order_id)
    if (before) sums.add(before.row, before.lines, -1)
    sums.add(row, lines, 1)
  }
  for (const row of removed) sums.add(row, known.get(row.order_id)!.lines, -1)
  await upsertProducts(ctx, written)
  await addSums(ctx, conversionDays, sums.conversions)
  await addSums(ctx, productDays, sums.products)
  await addActivity(ctx, await updateTouchCounts(ctx, sums.touches))
}

class Sums {
  readonly conversions: ConversionDelta[] = []
  readonly products: ProductDelta[] = []
  /** Change of the number of counted conversions, by touch. */
  readonly touches = new Map<string, number>()

  add(row: Row, lines: Lines, sign: 1 | -1): void {
    if (!isCounted(row)) return
    const common = { at: row.placed_at, source_type: row.source_type, currency: row.currency }
    this.conversions.push({
      ...common,
      orders: sign,
      revenue: signed(toCents(row.revenue), sign),
      carts: row.automation_type === 'abandoned-cart' ? sign : 0,
    })
    if (row.touch_id) this.touches.set(row.touch_id, (this.touches.get(row.touch_id) ?? 0) + sign)
    for (const [productId, own] of Map.groupBy(lines, (line) => line.product_id)) {
      if (productId === null) continue
      const units = own.reduce((sum, line) => sum + line.quantity - line.refunded_quantity, 0)
      const cents = own.reduce((sum, line) => sum + toCents(line.total) - toCents(line.refunded_total), 0n)
      this.products.push({
        ...common,
        product_id: productId,
        orders: sign,
        units: units * sign,
        revenue: signed(cents, sign),
      })
    }
  }
}

const signed = (cents: bigint, sign: 1 | -1): string => toMoney(sign === 1 ? cents : -cents)

/** Stores name and picture of each product from its newest order. */
async function upsertProducts(ctx: Context, written: readonly ConversionDraft[]): Promise<void> {
  const latest = new Map<
    string,
    { product_id: string; name: string; image_url: string | null; seen_at: Date }
  >()
  for (const { row, lines } of written) {
    for (const { product_id, name, image_url } of lines) {
      if (product_id === null) continue
      const other = latest.get(product_id)
      if (!other || other.seen_at < row.placed_at) {
        latest.set(product_id, { product_id, name, image_url, seen_at: row.placed_at })
      }
    }
  }
  if (latest.size === 0) return
  const types = { product_id: 'text', name: 'text', image_url: 'text', seen_at: 'timestamptz' } as const
  const columns = ['product_id', 'name', 'image_url', 'seen_at'] as const
  await ctx.db
    .insertInto('conversion_products')
    .columns(columns)
    .expression((db) =>
      db
        .selectFrom(recordset(types, [...latest.values()]))
        .select(columns)
        .orderBy('product_id'),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'product_id'])
        .doUpdateSet({
          name: sql<string>`excluded.name`,
          image_url: sql<string>`excluded.image_url`,
          seen_at: sql<Date>`excluded.seen_at`,
        })
        .where('conversion_products.seen_at', '<', sql<Date>`excluded.seen_at`),
    )
    .execute()
}

/**
 * Updates the conversion counts of touches. Returns a delta of the daily sums for each message that got its first
 * conversion or lost its last.
 */
async function updateTouchCounts(
  ctx: Context,
  touches: ReadonlyMap<string, number>,
): Promise<ActivityDelta[]> {
  const changed = [...touches].filter(([, difference]) => difference !== 0)
  if (changed.length === 0) return []
  const types = { id: 'uuid', difference: 'integer' } as const
  const rows = changed.map(([id, difference]) => ({ id, difference })).sort((a, b) => (a.id < b.id ? -1 : 1))
  const moved = await ctx.db
    .updateTable('attribution_touches')
    .from(recordset(types, rows))
    .set({ conversions: sql<number>`attribution_touches.conversions + r.difference` })
    .whereRef('attribution_touches.id', '=', 'r.id')
    .returning([
      'attribution_touches.touched_at',
      'attribution_touches.message_id',
      'attribution_touches.voided_at',
      'attribution_touches.conversions',
      'r.difference',
    ])
    .execute()
  return moved.flatMap((touch) => {
    if (touch.message_id === null || touch.voided_at !== null) return []
    const had = touch.conversions - touch.difference > 0
    const has = touch.conversions > 0
    return had === has ? [] : [activityAt(touch.touched_at, 'touches', { converted: has ? 1 : -1 })]
  })
}
