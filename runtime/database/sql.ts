// biome-ignore-all lint/plugin/least: the only file that calls PostgreSQL's least() and greatest()
// biome-ignore-all lint/plugin/cents: the only file that rounds money in SQL
/**
 * SQL expressions that several sections share: minimum and maximum, rounding, percentages. PostgreSQL's `least` and
 * `greatest` ignore nulls, so an unknown figure would silently become another one. The names here say which behaviour
 * is meant, and `npm run check` allows PostgreSQL's functions nowhere else.
 */
import { type RawBuilder, sql } from 'kysely'
import { amountAtMost, wholeCurrencies } from '../values/money.ts'

const list = (values: readonly unknown[]): RawBuilder<unknown> =>
  sql.join(values.map((value) => sql`${value}`))

/** The least value; null if one of the values is null. The same holds for `greatest`. */
export const least = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`case when num_nulls(${list(values)}) = 0 then least(${list(values)}) end`
export const greatest = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`case when num_nulls(${list(values)}) = 0 then greatest(${list(values)}) end`

/** The least of the values that are not null; null if all are. The same holds for `greatestKnown`. */
export const leastKnown = <T>(...values: readonly unknown[]): RawBuilder<T> => sql<T>`least(${list(values)})`
export const greatestKnown = <T>(...values: readonly unknown[]): RawBuilder<T> =>
  sql<T>`greatest(${list(values)})`

/**
 * Rounds sums and differences of stored money to hundredths: halves away from zero, as `runtime/values/money.ts` does. A
 * larger value than the largest amount becomes the largest amount instead of failing.
 */
export const roundToCents = <T = string>(amount: unknown): RawBuilder<T> =>
  sql<T>`(sign(${amount}) * least(abs(${amount}), ${sql.raw(amountAtMost)}))::numeric(14,2)`

const whole = sql.join([...wholeCurrencies].map((code) => sql.lit(code)))
/** Rounds what was divided to the decimals of its currency, which is SQL too: halves away from zero. */
export const roundInCurrency = <T = string>(amount: unknown, currency: unknown): RawBuilder<T> =>
  roundToCents<T>(sql`round(${amount}, case when ${currency} in (${whole}) then 0 else 2 end)`)

/** A percentage of an amount of money. Multiplied by 0.01, which is exact: dividing by 100 would round first. */
export const takePercentage = (amount: unknown, percentage: unknown, currency: unknown): RawBuilder<string> =>
  roundInCurrency(sql`(${amount}) * (${percentage}) * 0.01`, currency)

/** Whether a column has the instant of a Date, which has only milliseconds: the column's microseconds are ignored. */
export const isSameInstant = (column: string, at: Date): RawBuilder<boolean> =>
  sql<boolean>`(${sql.ref(column)} >= ${at}::timestamptz and ${sql.ref(column)} < ${new Date(at.getTime() + 1)}::timestamptz)`
