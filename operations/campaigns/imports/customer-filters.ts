/**
 * Matches the platform's customers against a list's filters (rule 6). Days are in the store's time zone. No database,
 * no clock.
 */
import { DateTime } from 'luxon'
import type { PlatformCustomer } from '#operations/store/index'
import { hundredths } from '#runtime/values/money'
import type { CustomerFilters } from '../lists/import-schema.ts'

/** Whether a customer matches all filters. Filters such as `orderedWithinDays` count back from `now`. */
export function matchesFilters(
  customer: PlatformCustomer,
  filters: CustomerFilters,
  now: Date,
  timezone: string,
): boolean {
  const spent = hundredths.toCents(customer.totalSpent)
  const first = toDay(customer.firstOrderAt, timezone)
  const last = toDay(customer.lastOrderAt, timezone)
  const daysAgo = (days: number): string =>
    DateTime.fromJSDate(now, { zone: timezone }).minus({ days }).toFormat('yyyy-MM-dd')
  const { orderedWithinDays: within, notOrderedForDays: quiet } = filters
  return (
    isBetween(customer.ordersCount, filters.ordersMin, filters.ordersMax) &&
    isBetween(spent, toCentsOrUndefined(filters.totalSpentMin), toCentsOrUndefined(filters.totalSpentMax)) &&
    isBetween(first, filters.firstOrderFrom, filters.firstOrderTo) &&
    isBetween(last, filters.lastOrderFrom, filters.lastOrderTo) &&
    (within === undefined || (last !== null && last >= daysAgo(within))) &&
    (quiet === undefined || (last !== null && last < daysAgo(quiet))) &&
    (filters.acceptsMarketing === undefined || customer.acceptsMarketing === filters.acceptsMarketing)
  )
}

const toCentsOrUndefined = (amount: number | undefined): bigint | undefined =>
  amount === undefined ? undefined : hundredths.toCents(amount)

const toDay = (instant: string | null, timezone: string): string | null =>
  instant === null ? null : DateTime.fromISO(instant, { zone: timezone }).toFormat('yyyy-MM-dd')

/** Whether `value` is within the bounds, which are inclusive. A null `value` is within them only if no bound is set. */
function isBetween<T extends number | bigint | string>(value: T | null, low?: T, high?: T): boolean {
  if (value === null) return low === undefined && high === undefined
  return (low === undefined || value >= low) && (high === undefined || value <= high)
}
