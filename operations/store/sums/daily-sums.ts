/**
 * Updates the daily sums (rule 9). Every change of a row adds its difference to the sums in the same transaction. A store's
 * sums are per day in its time zone. While the sums are rebuilt for another time zone, the days rebuilt so far are updated
 * too.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Context } from '#runtime/context'
import { recordset } from '#runtime/database/recordset'

export interface ConversionDelta {
  at: Date
  source_type: string
  currency: string
  orders: number
  /** Decimal text, like all amounts here. */
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
  /** The currency of orders; empty for messages and touches. */
  currency: string
  n: number
  amount: string
  converted: number
}

/**
 * Writers hold this lock shared, and the rebuild of a month holds it exclusively. So a rebuilt month contains everything that
 * was committed before, and no concurrent change is lost or counted twice.
 */
export const lockSumsShared = (ctx: Context) =>
  sql`select pg_advisory_xact_lock_shared(${lockKey(ctx)})`.execute(ctx.db)
export const lockSumsExclusive = (ctx: Context) =>
  sql`select pg_advisory_xact_lock(${lockKey(ctx)})`.execute(ctx.db)
const lockKey = (ctx: Context): RawBuilder<unknown> =>
  sql`hashtextextended(${`day-sums ${ctx.store.id}`}::text, 0)`

/** Describes a table of sums per time zone and local day. */
export interface Sums<Delta extends object> {
  table: 'conversion_days' | 'conversion_product_days' | 'activity_days'
  /** The key columns; except for `day`, all are text. Rows are locked in this order, which prevents deadlocks. */
  keys: readonly ('day' | (keyof Delta & string))[]
  /** The summed columns and their SQL types. */
  added: Readonly<Partial<Record<keyof Delta & string, 'integer' | 'numeric'>>>
}

const daySums = <Delta extends object>(
  table: Sums<Delta>['table'],
  parts: Omit<Sums<Delta>, 'table'>,
): Sums<Delta> => ({ table, ...parts })

export const conversionDays = daySums<ConversionDelta>('conversion_days', {
  keys: ['day', 'source_type', 'currency'],
  added: { orders: 'integer', revenue: 'numeric', carts: 'integer' },
})
export const productDays = daySums<ProductDelta>('conversion_product_days', {
  keys: ['day', 'source_type', 'currency', 'product_id'],
  added: { orders: 'integer', units: 'integer', revenue: 'numeric' },
})
export const activityDays = daySums<ActivityDelta>('activity_days', {
  keys: ['kind', 'day', 'currency'],
  added: { n: 'integer', amount: 'numeric', converted: 'integer' },
})

/** Adds differences to the sums. Must run in the transaction that changed the rows, under `lockSumsShared`. */
export async function addSums<Delta extends object>(
  ctx: Context,
  { table, keys, added }: Sums<Delta>,
  deltas: readonly Delta[],
): Promise<void> {
  if (deltas.length === 0) return
  const texts = keys.filter((key) => key !== 'day')
  const types = { at: 'timestamptz', ...Object.fromEntries(texts.map((key) => [key, 'text'])), ...added }
  const sums = Object.entries(added).map(([name, type]) => ({
    name,
    sum: sql`sum(${sql.ref(`r.${name}`)})::${sql.raw(type as string)}`,
  }))
  const day = sql`(r.at at time zone z.timezone)::date`
  const parts = ['timezone', ...keys].map((name) => ({
    name,
    part: name === 'day' ? day : sql.ref(name === 'timezone' ? 'z.timezone' : `r.${name}`),
  }))
  const isBuilt = sql<boolean>`(z.built_before is null or ${day} < z.built_before)`
  const db = ctx.db as unknown as Kysely<Record<string, Record<string, unknown>>>
  await db
    .insertInto(table)
    .columns([...parts, ...sums].map(({ name }) => name))
    .expression((from) =>
      from
        .selectFrom(recordset<object>(types, deltas))
        .innerJoin('conversion_zones as z', (join) => join.on(isBuilt))
        .select([
          ...parts.map(({ name, part }) => part.as(name)),
          ...sums.map(({ name, sum }) => sum.as(name)),
        ])
        .groupBy(parts.map(({ part }) => part))
        .having(
          sql<boolean>`${sql.join(
            sums.map(({ sum }) => sql`${sum} <> 0`),
            sql` or `,
          )}`,
        )
        .orderBy(sql.join(parts.map(({ part }) => part))),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['store_id', 'timezone', ...keys])
        .doUpdateSet(
          Object.fromEntries(
            sums.map(({ name }) => [
              name,
              sql`${sql.ref(`${table}.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
            ]),
          ),
        ),
    )
    .execute()
}

export const activityAt = (
  at: Date,
  kind: ActivityDelta['kind'],
  change: Partial<Pick<ActivityDelta, 'currency' | 'n' | 'amount' | 'converted'>>,
): ActivityDelta => ({ at, kind, currency: '', n: 0, amount: '0', converted: 0, ...change })

/** Adds differences to the sums of orders, messages and touches. Must run in the transaction that changed the rows. */
export async function addActivity(ctx: Context, deltas: readonly ActivityDelta[]): Promise<void> {
  if (deltas.length === 0) return
  await lockSumsShared(ctx)
  await addSums(ctx, activityDays, deltas)
}
