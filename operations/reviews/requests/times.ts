/** When requests and reminders leave (rule 3). No database, no clock. */
import { addDays, localDay } from '#runtime/values/days'
import { instantsOf } from '#runtime/values/wall-clock'
import type { ReviewSettings } from '../settings/schema.ts'

interface OrderInstants {
  paid_at: Date | null
  shipped_at: Date | null
  delivered_at: Date | null
}

/** When an order reached what starts the waiting; null: not yet. What was delivered was shipped. */
export function triggeredAt(
  order: OrderInstants,
  trigger: ReviewSettings['request']['trigger'],
): Date | null {
  if (trigger === 'paid') return order.paid_at
  return trigger === 'shipped' ? (order.shipped_at ?? order.delivered_at) : order.delivered_at
}

/** So many days after the day that the store's clocks show, at `time`; where that is before `from`, the day after. */
export function daysLater(from: Date, days: number, time: string, timezone: string): Date {
  const day = localDay(from, timezone)
  const found = [days, days + 1].flatMap((later) => instantsOf(addDays(day, later), time, timezone))
  return found.find((at) => at >= from)!
}

/** Whether people sleep, by the store's clocks. */
export function isNight(at: Date, timezone: string): boolean {
  const today = localDay(at, timezone)
  const [morning, evening] = ['08:00', '22:00'].map((time) => instantsOf(today, time, timezone)[0]!)
  return at < morning! || at >= evening!
}
