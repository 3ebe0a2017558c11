/** Suggests a free-shipping threshold from the store's median order value (rule 2). */
import { sql } from 'kysely'
import { days, isCountedOrder } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { roundInCurrency } from '#runtime/database/sql'
import { count, currency, money, named, object, z } from '#runtime/schema'
import { defaultFreeShipping, thresholdAtMost } from './schema.ts'

const ordersAtLeast = 20
const share = z.number().min(0).max(100).nullable()

export const thresholdSuggestion = named(
  'ThresholdSuggestion',
  object({
    suggestion: z
      .number()
      .int()
      .nullable()
      .describe('Whole units; null: too few orders, or outside the allowed range'),
    reason: z.enum(['not-enough-orders', 'no-usable-threshold']).nullable(),
    currency,
    days: z.number().int(),
    orders: count,
    medianOrder: money.nullable(),
    averageOrder: money.nullable(),
    shareReached: share.describe('Percentage of the orders that reach it'),
    shareWithin: share.describe('Percentage from the median up to below it'),
    currentThreshold: z.number().int().nullable(),
  }),
)

interface Figures {
  orders: number
  median: number | null
  average: number | null
  suggestion: number | null
  share_reached: number | null
  share_within: number | null
  threshold: number | null
}

const figures = prepared<{ startDate: string; endDate: string; timezone: string; currency: string }, Figures>(
  (db, values) =>
    db
      .with('amounts', (cte) =>
        cte
          .selectFrom('orders as o')
          .where(isCountedOrder('o'))
          .where('o.currency', '=', values.currency)
          .where(days.isWithin('o.placed_at', values))
          .select(sql<string>`o.subtotal - o.discount`.as('amount')),
      )
      .with('sorted', (cte) =>
        cte
          .selectFrom('amounts')
          .select([
            sql<number>`count(*)::int`.as('n'),
            sql<string[]>`array_agg(amount order by amount)`.as('a'),
            sql<string>`avg(amount)`.as('average'),
          ]),
      )
      // Computes the median from an array, because `percentile_cont` works on doubles, not on exact decimals.
      .with('middle', (cte) =>
        cte
          .selectFrom('sorted')
          .select(['n', 'average', sql<string>`(a[(n + 1) / 2] + a[n / 2 + 1]) / 2`.as('median')]),
      )
      .with('wanted', (cte) =>
        cte.selectFrom('middle').select([
          'n',
          'average',
          'median',
          // Null if the value is outside the range that the settings accept.
          sql<string>`case when n >= ${sql.lit(ordersAtLeast)} then (
            select case when t.value between 1 and ${sql.lit(thresholdAtMost)} then t.value end from (
            select ceil(raw / step) * step as value from (select median * 1.2 as raw) r, lateral (
              select case when raw < 20 then 1 when raw < 100 then 5 when raw < 500 then 10
                when raw < 2000 then 50 when raw < 10000 then 100 else 1000 end::numeric as step) s
          ) t) end`.as('suggestion'),
        ]),
      )
      .selectFrom('wanted as w')
      .leftJoin('bar_settings as b', (join) => join.on('b.bar', '=', 'free-shipping'))
      .select((eb) => [
        'w.n as orders',
        sql<number | null>`${roundInCurrency(sql`w.median`, sql`${values.currency}::text`)}::float8`.as(
          'median',
        ),
        sql<number | null>`${roundInCurrency(sql`w.average`, sql`${values.currency}::text`)}::float8`.as(
          'average',
        ),
        sql<number | null>`w.suggestion::float8`.as('suggestion'),
        sql<number | null>`(${eb
          .selectFrom('amounts')
          .select(
            sql`round(count(*) filter (where amount >= w.suggestion) * 100.0 / nullif(w.n, 0), 1)::float8`.as(
              'share',
            ),
          )})`.as('share_reached'),
        sql<number | null>`(${eb.selectFrom('amounts').select(
          sql`round(count(*) filter (where amount >= w.median and amount < w.suggestion) * 100.0
              / nullif(w.n, 0), 1)::float8`.as('share'),
        )})`.as('share_within'),
        sql<number | null>`(b.content ->> 'threshold')::int`.as('threshold'),
      ]),
)

/** Suggests a threshold from the orders of the last `wanted` local days, not including today. */
export async function suggestThreshold(
  ctx: Context,
  wanted: number,
): Promise<z.infer<typeof thresholdSuggestion>> {
  const { timezone, currency: ofStore } = ctx.store
  const endDate = days.addDays(days.localDay(ctx.now(), timezone), -1)
  const startDate = days.addDays(endDate, 1 - wanted)
  const [row] = await figures(ctx, { startDate, endDate, timezone, currency: ofStore })
  const { orders, median, average, suggestion, share_reached, share_within, threshold } = row!
  const isEnough = suggestion !== null
  return {
    suggestion,
    reason: isEnough ? null : orders < ordersAtLeast ? 'not-enough-orders' : 'no-usable-threshold',
    currency: ofStore,
    days: wanted,
    orders,
    medianOrder: median,
    averageOrder: average,
    shareReached: isEnough ? share_reached : null,
    shareWithin: isEnough ? share_within : null,
    currentThreshold: threshold ?? defaultFreeShipping.threshold,
  }
}
