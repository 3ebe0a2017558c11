/** When requests and reminders leave (rule 3). No database, no clock. */
import { DateTime } from 'luxon'
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
  const [hour, minute] = time.split(':').map(Number)
  const day = DateTime.fromJSDate(from, { zone: timezone }).startOf('day')
  const at = (later: number): Date => day.plus({ days: later }).set({ hour, minute }).toJSDate()
  const first = at(days)
  return first < from ? at(days + 1) : first
}
