// biome-ignore-all lint/plugin/least: the one place that writes them
// biome-ignore-all lint/plugin/cents: the one place for SQL
/**
 * The smaller and the larger of SQL values. PostgreSQL's `least` and `greatest` leave out what is null, so that a figure
 * that is not known becomes another one: which of the two is meant is said here, and `npm run check` lets nobody write
 * them elsewhere.
 */
import { type RawBuilder, sql } from 'kysely'
import { amountAtMost } from '../values/money.ts'

const list = (values: readonly unknown[]): RawBuilder<unknown> =>
  sql.join(values.map((value) => sql`${value}`))

/** Null where one of them is. */
export const least = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`case when num_nulls(${list(values)}) = 0 then least(${list(values)}) end`
export const greatest = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`case when num_nulls(${list(values)}) = 0 then greatest(${list(values)}) end`

/** Of those that are known: null where none is. */
export const leastKnown = <T>(...values: readonly unknown[]): RawBuilder<T> => sql<T>`least(${list(values)})`
export const greatestKnown = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`greatest(${list(values)})`

/**
 * Money that SQL came to, to the cent: halves go away from zero, as those of `runtime/values/money.ts` do. A sum beyond
 * what an amount can be is the most that it can be, and fails nothing.
 */
export const inCents = <T = string>(amount: unknown): RawBuilder<T> =>
  sql<T>`(sign(${amount}) * least(abs(${amount}), ${sql.raw(amountAtMost)}))::numeric(14,2)`

/** So much per cent of an amount of money. Multiplied, which is exact: a quotient would be rounded before. */
export const percentageOf = (amount: unknown, percentage: unknown): RawBuilder<string> =>
  inCents(sql`(${amount}) * (${percentage}) * 0.01`)

/** Whether an instant is one that was read before: a Date knows it to the millisecond. */
export const isInstant = (column: string, at: Date): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(column)} >= ${at}::timestamptz and ${sql.ref(column)} < ${new Date(at.getTime() + 1)}::timestamptz)`
