/** Rebuilds the daily sums of a store for its current time zone, one month per transaction. */
import { type Expression, type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import type { Context } from '#runtime/context'
import { localDay } from '#runtime/values/days'
import { activityDays, conversionDays, lockSumsExclusive, productDays, type Sums } from './daily-sums.ts'
import { isCountedConversion, isCountedOrder } from './revenue-rules.ts'

const allSums = [conversionDays, productDays, activityDays]

type Db = Kysely<TenantTables>
// biome-ignore lint/suspicious/noExplicitAny: rows of any table
type AnyRows = SelectQueryBuilder<any, any, object>

/**
 * Builds the sums. Until they are complete, figures are read from the rows themselves. If `shouldContinue` returns false, it
 * stops between two months, and the next call resumes there. It also stops if the time zone changes again, because that
 * change has queued another rebuild.
 */
export async function rebuildDailySums(
  ctx: Context,
  shouldContinue: () => boolean = () => true,
): Promise<void> {
  const timezone = await readTimezone(ctx)
  let month = await ctx.transaction((tx) => startRebuild(tx, timezone))
  while (month !== null && shouldContinue()) {
    const current: string = month
    month = await ctx.transaction(async (tx) => {
      await lockSumsExclusive(tx)
      if ((await readTimezone(tx)) !== timezone) return null
      const next = nextMonth(current)
      await buildMonth(tx, timezone, current, next)
      const more = await findLatestDay(tx, timezone)
      const isLast = more === null || more < next
      await tx.db
        .updateTable('conversion_zones')
        .set({ built_before: isLast ? null : next })
        .where('timezone', '=', timezone)
        .execute()
      if (isLast) await deleteOtherZones(tx, timezone)
      return isLast ? null : next
    })
  }
}

async function readTimezone(ctx: Context): Promise<string> {
  const { timezone } = await ctx.db.selectFrom('stores').select('timezone').executeTakeFirstOrThrow()
  return timezone
}

const nextMonth = (month: string): string => {
  const date = new Date(`${month}T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + 1)
  return date.toISOString().slice(0, 10)
}

/** The month to start or resume with; null if there is nothing to sum. */
async function startRebuild(ctx: Context, timezone: string): Promise<string | null> {
  await lockSumsExclusive(ctx)
  const known = await ctx.db
    .selectFrom('conversion_zones')
    .select(sql<string | null>`built_before::text`.as('built_before'))
    .where('timezone', '=', timezone)
    .executeTakeFirst()
  if (known?.built_before) return known.built_before
  const earliest = await findEdgeDay(ctx, timezone, 'min')
  const first = earliest && `${earliest.slice(0, 7)}-01`
  await ctx.db
    .insertInto('conversion_zones')
    .values({ timezone, built_before: first, created_at: ctx.now() })
    .onConflict((conflict) => conflict.columns(['store_id', 'timezone']).doUpdateSet({ built_before: first }))
    .execute()
  if (first === null) await deleteOtherZones(ctx, timezone)
  return first
}

const findLatestDay = (ctx: Context, timezone: string) => findEdgeDay(ctx, timezone, 'max')

/** The first or last local day with anything to sum. */
async function findEdgeDay(ctx: Context, timezone: string, edge: 'min' | 'max'): Promise<string | null> {
  const of = sql.raw(edge)
  const row = await ctx.db
    .selectNoFrom((eb) => [
      eb.selectFrom('conversions').select(sql<Date | null>`${of}(placed_at)`.as('at')).as('conversions'),
      eb.selectFrom('orders').select(sql<Date | null>`${of}(placed_at)`.as('at')).as('orders'),
      eb.selectFrom('message_ledger').select(sql<Date | null>`${of}(sent_at)`.as('at')).as('messages'),
      eb.selectFrom('attribution_touches').select(sql<Date | null>`${of}(touched_at)`.as('at')).as('touches'),
    ])
    .executeTakeFirstOrThrow()
  const instants = Object.values(row).flatMap((at) => (at ? [at.getTime()] : []))
  if (instants.length === 0) return null
  const at = new Date(edge === 'min' ? Math.min(...instants) : Math.max(...instants))
  return localDay(at, timezone)
}

async function deleteOtherZones(ctx: Context, timezone: string): Promise<void> {
  for (const table of ['conversion_zones' as const, ...allSums.map((sums) => sums.table)]) {
    await ctx.db.deleteFrom(table).where('timezone', '<>', timezone).execute()
  }
}

async function buildMonth(ctx: Context, timezone: string, month: string, next: string): Promise<void> {
  for (const { table } of allSums) {
    await ctx.db
      .deleteFrom(table)
      .where('timezone', '=', timezone)
      .where('day', '>=', month)
      .where('day', '<', next)
      .execute()
  }
  const zone = sql<string>`${timezone}::text`
  const daySql = (column: string) => sql<string>`(${sql.ref(column)} at time zone ${zone})::date`
  // The first two conditions can use the index: they are 3 hours wider than the month. The others compare the local date.
  const within = (column: string) => {
    const at = sql.ref(column)
    // biome-ignore lint/plugin/midnight: the bounds are three hours wider, and each row's local date is compared
    return sql<boolean>`${at} >= (${month}::date::timestamp at time zone ${zone}) - interval '3 hours'
      and ${at} < (${next}::date::timestamp at time zone ${zone}) + interval '3 hours'
      and ${daySql(column)} >= ${month}::date and ${daySql(column)} < ${next}::date`
  }
  const sumUp = <Delta extends object>(
    { table, keys, added }: Sums<Delta>,
    rows: AnyRows,
    at: string,
    parts: { [Name in Exclude<keyof Delta & string, 'at'>]: Expression<unknown> },
  ) => {
    const values: Record<string, Expression<unknown>> = { timezone: zone, day: daySql(at), ...parts }
    const names = [...keys, 'timezone', ...Object.keys(added)]
    return (ctx.db as unknown as Kysely<Record<string, Record<string, unknown>>>)
      .insertInto(table)
      .columns(names)
      .expression(() =>
        rows
          .where(within(at))
          .select(names.map((name) => sql`${values[name]}`.as(name)))
          // Groups by ordinal, because a key may be a constant or share its name with a column. The keys are selected first.
          .groupBy(keys.map((_key, place) => sql.lit(place + 1))),
      )
      .execute()
  }
  const count = sql`count(*)::int`
  const zero = sql`0`
  const conversions = ctx.db.selectFrom('conversions as c').where(isCountedConversion('c'))
  const source = { source_type: sql.ref('c.source_type'), currency: sql.ref('c.currency') }
  await sumUp(conversionDays, conversions, 'c.placed_at', {
    ...source,
    orders: count,
    revenue: sql`sum(c.revenue)`,
    carts: sql`(count(*) filter (where c.automation_type = 'abandoned-cart'))::int`,
  })
  const items = conversions
    .innerJoin('conversion_items as i', 'i.conversion_id', 'c.id')
    .where('i.product_id', 'is not', null)
  await sumUp(productDays, items, 'c.placed_at', {
    ...source,
    product_id: sql.ref('i.product_id'),
    orders: sql`count(distinct c.id)::int`,
    units: sql`sum(i.quantity - i.refunded_quantity)::int`,
    revenue: sql`sum(i.total - i.refunded_total)`,
  })
  await sumUp(activityDays, ctx.db.selectFrom('orders as o').where(isCountedOrder('o')), 'o.placed_at', {
    kind: sql`'orders'`,
    currency: sql.ref('o.currency'),
    n: count,
    amount: sql`sum(o.total - o.refunded_total)`,
    converted: zero,
  })
  const messages = ctx.db.selectFrom('message_ledger as m').where('m.channel', '=', 'messaging')
  const plain = { currency: sql`''`, n: count, amount: zero }
  await sumUp(activityDays, messages, 'm.sent_at', { ...plain, kind: sql`'messages'`, converted: zero })
  const touches = ctx.db
    .selectFrom('attribution_touches as t')
    .where('t.message_id', 'is not', null)
    .where('t.voided_at', 'is', null)
  await sumUp(activityDays, touches, 't.touched_at', {
    ...plain,
    kind: sql`'touches'`,
    converted: sql`(count(*) filter (where t.conversions > 0))::int`,
  })
}

/** A query that returns a row if the sums for the store's time zone are complete. */
export const areSumsBuilt = (db: Db) =>
  db
    .selectFrom('conversion_zones as z')
    .innerJoin('stores as s', 's.timezone', 'z.timezone')
    .select('z.timezone')
    .where('z.built_before', 'is', null)
