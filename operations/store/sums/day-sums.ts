/**
 * Daily sums that follow the rows: whoever changes a row adds the difference, in the same transaction. A store's sums
 * are by one time zone; while they are built for another, the days built so far follow too (rule 9).
 */
import { type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { recordset } from '#runtime/database/recordset'

export interface ConversionDelta {
  at: Date
  source_type: string
  currency: string
  orders: number
  /** Decimal text, as all amounts here. */
  revenue: string
  carts: number
}

export interface ProductDelta {
  at: Date
  source_type: string
  currency: string
  product_id: string
  orders: number
  units: number
  revenue: string
}

export interface ActivityDelta {
  at: Date
  kind: 'orders' | 'messages' | 'touches'
  /** Of orders; else empty. */
  currency: string
  n: number
  amount: string
  converted: number
}

/**
 * Those who change rows share this lock, who builds a month has it alone: a month is summed with all that was
 * committed before it, and nothing in between.
 */
export const shareSums = (ctx: Context) =>
  sql`select pg_advisory_xact_lock_shared(${lockOf(ctx)})`.execute(ctx.db)
export const lockSums = (ctx: Context) => sql`select pg_advisory_xact_lock(${lockOf(ctx)})`.execute(ctx.db)
const lockOf = (ctx: Context): RawBuilder<unknown> =>
  sql`hashtextextended(${`day-sums ${ctx.store.id}`}::text, 0)`

const isSummed = sql<boolean>`(z.built_before is null
  or (r.at at time zone z.timezone)::date < z.built_before)`
const dayOf = sql<string>`(r.at at time zone z.timezone)::date`

/** So many things of one kind at one instant. */
export const activityAt = (
  at: Date,
  kind: ActivityDelta['kind'],
  change: Partial<Pick<ActivityDelta, 'currency' | 'n' | 'amount' | 'converted'>>,
): ActivityDelta => ({ at, kind, currency: '', n: 0, amount: '0', converted: 0, ...change })

export async function addConversions(ctx: Context, deltas: readonly ConversionDelta[]): Promise<void> {
  if (deltas.length === 0) return
  const types = {
    at: 'timestamptz',
    source_type: 'text',
    currency: 'text',
    orders: 'integer',
    revenue: 'numeric',
    carts: 'integer',
  } as const
  const columns = ['timezone', 'day', 'source_type', 'currency', 'orders', 'revenue', 'carts'] as const
  await ctx.db
    .insertInto('conversion_days')
    .columns(columns)
    .expression((db) =>
      db
        .selectFrom(recordset<ConversionDelta>(types, [...deltas]))
        .innerJoin('conversion_zones as z', (join) => join.on(isSummed))
        .select([
          'z.timezone',
          dayOf.as('day'),
          'r.source_type',
          'r.currency',
          sql<number>`sum(r.orders)::int`.as('orders'),
          sql<string>`sum(r.revenue)`.as('revenue'),
          sql<number>`sum(r.carts)::int`.as('carts'),
        ])
        .groupBy(['z.timezone', dayOf, 'r.source_type', 'r.currency'] as never)
        .having(sql<boolean>`sum(r.orders) <> 0 or sum(r.revenue) <> 0 or sum(r.carts) <> 0`)
        // One order for all: two who add to the same days wait for each other and do not lock up.
        .orderBy('z.timezone')
        .orderBy('day' as never)
        .orderBy('r.source_type')
        .orderBy('r.currency'),
    )
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'timezone', 'day', 'source_type', 'currency']).doUpdateSet({
        orders: sql<number>`conversion_days.orders + excluded.orders`,
        revenue: sql<string>`conversion_days.revenue + excluded.revenue`,
        carts: sql<number>`conversion_days.carts + excluded.carts`,
      }),
    )
    .execute()
}

export async function addProducts(ctx: Context, deltas: readonly ProductDelta[]): Promise<void> {
  if (deltas.length === 0) return
  const types = {
    at: 'timestamptz',
    source_type: 'text',
    currency: 'text',
    product_id: 'text',
    orders: 'integer',
    units: 'integer',
    revenue: 'numeric',
  } as const
  const keys = ['timezone', 'day', 'source_type', 'currency', 'product_id'] as const
  await ctx.db
    .insertInto('conversion_product_days')
    .columns([...keys, 'orders', 'units', 'revenue'])
    .expression((db) =>
      db
        .selectFrom(recordset<ProductDelta>(types, [...deltas]))
        .innerJoin('conversion_zones as z', (join) => join.on(isSummed))
        .select([
          'z.timezone',
          dayOf.as('day'),
          'r.source_type',
          'r.currency',
          'r.product_id',
          sql<number>`sum(r.orders)::int`.as('orders'),
          sql<number>`sum(r.units)::int`.as('units'),
          sql<string>`sum(r.revenue)`.as('revenue'),
        ])
        .groupBy(['z.timezone', dayOf, 'r.source_type', 'r.currency', 'r.product_id'] as never)
        .having(sql<boolean>`sum(r.orders) <> 0 or sum(r.units) <> 0 or sum(r.revenue) <> 0`)
        .orderBy('z.timezone')
        .orderBy('day' as never)
        .orderBy('r.source_type')
        .orderBy('r.currency')
        .orderBy('r.product_id'),
    )
    .onConflict((conflict) =>
      conflict.columns(['store_id', ...keys]).doUpdateSet({
        orders: sql<number>`conversion_product_days.orders + excluded.orders`,
        units: sql<number>`conversion_product_days.units + excluded.units`,
        revenue: sql<string>`conversion_product_days.revenue + excluded.revenue`,
      }),
    )
    .execute()
}

/** In the transaction that changed the rows. */
export async function addActivity(ctx: Context, deltas: readonly ActivityDelta[]): Promise<void> {
  if (deltas.length === 0) return
  await shareSums(ctx)
  const types = {
    at: 'timestamptz',
    kind: 'text',
    currency: 'text',
    n: 'integer',
    amount: 'numeric',
    converted: 'integer',
  } as const
  const keys = ['timezone', 'day', 'kind', 'currency'] as const
  await ctx.db
    .insertInto('activity_days')
    .columns([...keys, 'n', 'amount', 'converted'])
    .expression((db) =>
      db
        .selectFrom(recordset<ActivityDelta>(types, [...deltas]))
        .innerJoin('conversion_zones as z', (join) => join.on(isSummed))
        .select([
          'z.timezone',
          dayOf.as('day'),
          'r.kind',
          'r.currency',
          sql<number>`sum(r.n)::int`.as('n'),
          sql<string>`sum(r.amount)`.as('amount'),
          sql<number>`sum(r.converted)::int`.as('converted'),
        ])
        .groupBy(['z.timezone', dayOf, 'r.kind', 'r.currency'] as never)
        .having(sql<boolean>`sum(r.n) <> 0 or sum(r.amount) <> 0 or sum(r.converted) <> 0`)
        .orderBy('z.timezone')
        .orderBy('r.kind')
        .orderBy('day' as never)
        .orderBy('r.currency'),
    )
    .onConflict((conflict) =>
      conflict.columns(['store_id', 'timezone', 'kind', 'day', 'currency']).doUpdateSet({
        n: sql<number>`activity_days.n + excluded.n`,
        amount: sql<string>`activity_days.amount + excluded.amount`,
        converted: sql<number>`activity_days.converted + excluded.converted`,
      }),
    )
    .execute()
}
