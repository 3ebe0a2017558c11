// biome-ignore-all lint/plugin/least: the one place that writes them
// biome-ignore-all lint/plugin/cents: the one place for SQL
/**
 * The least and greatest of SQL values. PostgreSQL's own functions ignore nulls, so that an unknown figure becomes
 * another one. These names state which behaviour is meant, and `npm run check` allows the functions nowhere else.
 */
import { type RawBuilder, sql } from 'kysely'
import { amountAtMost } from '../values/money.ts'

const list = (values: readonly unknown[]): RawBuilder<unknown> =>
  sql.join(values.map((value) => sql`${value}`))

/** Null if one of them is null. */
export const least = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`case when num_nulls(${list(values)}) = 0 then least(${list(values)}) end`
export const greatest = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`case when num_nulls(${list(values)}) = 0 then greatest(${list(values)}) end`

/** The least and greatest of the known values: null if all are null. */
export const leastKnown = <T>(...values: readonly unknown[]): RawBuilder<T> => sql<T>`least(${list(values)})`
export const greatestKnown = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`greatest(${list(values)})`

/**
 * Rounds money of an SQL expression to cents: halves away from zero, as `runtime/values/money.ts` does. A sum beyond
 * the largest amount becomes that amount, and does not fail.
 */
export const roundToCents = <T = string>(amount: unknown): RawBuilder<T> =>
  sql<T>`(sign(${amount}) * least(abs(${amount}), ${sql.raw(amountAtMost)}))::numeric(14,2)`

/** A percentage of an amount of money. Multiplied, which is exact: a quotient would be rounded first. */
export const takePercentage = (amount: unknown, percentage: unknown): RawBuilder<string> =>
  roundToCents(sql`(${amount}) * (${percentage}) * 0.01`)

/** Whether a column has an instant that was read before: a Date has milliseconds only. */
export const isSameInstant = (column: string, at: Date): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(column)} >= ${at}::timestamptz and ${sql.ref(column)} < ${new Date(at.getTime() + 1)}::timestamptz)`
