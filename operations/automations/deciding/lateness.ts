/**
 * Decides whether a message is too late to be sent, whatever delayed it: a hold, an outage, a clock jump. No database, no
 * clock.
 */
import { hourMs } from '#runtime/durations'
import { kinds } from '../kinds.ts'
import { measureQuietMs } from './clock-times.ts'
import type { EngineRow } from './rows.ts'

/** A message held for the full day of rule 6 must not be too late because the last recheck took a few minutes more. */
const slackMs = hourMs

/** Whether a message is later than its type allows. Quiet hours since it was due do not count. */
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
  return (
    lateMs > atMostMs && (lateMs > 3 * atMostMs || lateMs - measureQuietMs(quiet, zone, due, now) > atMostMs)
  )
}
