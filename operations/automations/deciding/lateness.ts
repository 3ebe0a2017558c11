/** How late a message is, whatever it waited for: a hold, an outage, a jump of the clock. No database, no clock. */
import { hourMs } from '#runtime/durations'
import { kinds } from '../kinds.ts'
import { quietMs } from './clock-times.ts'
import type { EngineRow } from './rows.ts'

/** A day of holds is allowed (rule 6); looks at what is held take their time, too. */
const slackMs = hourMs

/** Whether a message that is bound to a moment comes too late for it. Quiet hours since it was due do not count. */
export function isTooLate(
  { type, quiet_hours: quiet }: Pick<EngineRow, 'type' | 'quiet_hours'>,
  due: Date,
  zone: string,
  now: Date,
): boolean {
  const { latestHours } = kinds[type]
  if (latestHours === null) return false
  const atMostMs = latestHours * hourMs + slackMs
  const lateMs = now.getTime() - due.getTime()
  return lateMs > atMostMs && (lateMs > 3 * atMostMs || lateMs - quietMs(quiet, zone, due, now) > atMostMs)
}
