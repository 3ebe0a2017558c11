/** Calculates the send times of requests and reminders (rule 3). No database, no clock. */
import { addDays, localDay } from '#runtime/values/days'
import { findInstants, findOpening } from '#runtime/values/wall-clock'
import type { ReviewSettings } from '../settings/schema.ts'

interface OrderInstants {
  paid_at: Date | null
  shipped_at: Date | null
  delivered_at: Date | null
}

/** When an order reached the trigger; null if it has not yet. A delivered order also counts as shipped. */
export function findTriggerTime(
  order: OrderInstants,
  trigger: ReviewSettings['request']['trigger'],
): Date | null {
  if (trigger === 'paid') return order.paid_at
  return trigger === 'shipped' ? (order.shipped_at ?? order.delivered_at) : order.delivered_at
}

/** The local time `time`, `days` days after the local day of `from`; one day later if that would be before `from`. */
export function scheduleAfterDays(from: Date, days: number, time: string, timezone: string): Date {
  const day = localDay(from, timezone)
  const found = [days, days + 1].flatMap((later) => findInstants(addDays(day, later), time, timezone))
  return found.find((at) => at >= from)!
}

const night = { start: '22:00', end: '08:00' }

/** Whether it is night in a time zone: from 22:00 to 08:00. */
export const isNight = (at: Date, timezone: string): boolean => findOpening(night, timezone, at) !== null
