/** Who of the platform's customers belongs to a list (rule 6). Pure; days are those of the store's zone. */
import { DateTime } from 'luxon'
import type { PlatformCustomer } from '#operations/store/door'
import { toCents } from '#runtime/values/money'
import type { CustomerFilters } from '../lists/import-schema.ts'

/** Whether all filters hold. `now`: the instant that relative days count back from. */
export function matches(
  customer: PlatformCustomer,
  filters: CustomerFilters,
  now: Date,
  timezone: string,
): boolean {
  const spent = toCents(customer.totalSpent)
  const first = dayOf(customer.firstOrderAt, timezone)
  const last = dayOf(customer.lastOrderAt, timezone)
  const daysAgo = (days: number): string =>
    DateTime.fromJSDate(now, { zone: timezone }).minus({ days }).toFormat('yyyy-MM-dd')
  const { orderedWithinDays: within, notOrderedForDays: quiet } = filters
  return (
    isBetween(customer.ordersCount, filters.ordersMin, filters.ordersMax) &&
    isBetween(spent, cents(filters.totalSpentMin), cents(filters.totalSpentMax)) &&
    isBetween(first, filters.firstOrderFrom, filters.firstOrderTo) &&
    isBetween(last, filters.lastOrderFrom, filters.lastOrderTo) &&
    (within === undefined || (last !== null && last >= daysAgo(within))) &&
    (quiet === undefined || (last !== null && last < daysAgo(quiet))) &&
    (filters.acceptsMarketing === undefined || customer.acceptsMarketing === filters.acceptsMarketing)
  )
}

const cents = (amount: number | undefined): bigint | undefined =>
  amount === undefined ? undefined : toCents(amount)

const dayOf = (instant: string | null, timezone: string): string | null =>
  instant === null ? null : DateTime.fromISO(instant, { zone: timezone }).toFormat('yyyy-MM-dd')

/** Both ends included; who has no value fails where a bound is set. */
function isBetween<T extends number | bigint | string>(value: T | null, low?: T, high?: T): boolean {
  if (value === null) return low === undefined && high === undefined
  return (low === undefined || value >= low) && (high === undefined || value <= high)
}
