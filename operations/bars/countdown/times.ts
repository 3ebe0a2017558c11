/** When a countdown runs (rule 3). No database, no clock. */

import { addDays, localDay } from '#runtime/values/days'
import { instantsOf } from '#runtime/values/wall-clock'
import type { Countdown } from './schema.ts'

export interface Run {
  startsAt: Date | null
  endsAt: Date | null
}

export type CountdownState = 'off' | 'scheduled' | 'running' | 'ended'

/** A window of one weekday that a clock change takes away comes back two weeks after the last. */
const daysAhead = 15

/** The run that is on or comes next; of a `fixed` one, the one there is. `zone`: the store's where none is set. */
export function runOf(countdown: Countdown, zone: string, now: Date): Run {
  if (countdown.type === 'evergreen') return { startsAt: null, endsAt: null }
  if (countdown.type === 'daily') return dailyRun(countdown, zone, now)
  return { startsAt: wall(countdown.startLocal, zone), endsAt: wall(countdown.endLocal, zone) }
}

/** The start counts, the end does not. */
export function stateOf(countdown: Countdown, run: Run, isOn: boolean, now: Date): CountdownState {
  if (!isOn) return 'off'
  if (countdown.type === 'evergreen') return 'running'
  if (countdown.type === 'daily' && run.startsAt === null) return 'scheduled'
  if (run.endsAt && now >= run.endsAt) return 'ended'
  return run.startsAt && now < run.startsAt ? 'scheduled' : 'running'
}

const wall = (text: string | null, zone: string): Date | null =>
  text === null ? null : instantsOf(text.slice(0, 10), text.slice(11), zone)[0]!

/** A window belongs to the weekday of its start; one that ends at or before it ends the day after. */
function dailyRun({ dailyStart, dailyEnd, weekdays }: Countdown, zone: string, now: Date): Run {
  const today = localDay(now, zone)
  const overnight = dailyEnd <= dailyStart ? 1 : 0
  for (let ahead = -1; ahead <= daysAhead; ahead += 1) {
    const day = addDays(today, ahead)
    if (!weekdays.includes(new Date(day).getUTCDay() || 7)) continue
    const startsAt = instantsOf(day, dailyStart, zone)[0]!
    const endsAt = instantsOf(addDays(day, overnight), dailyEnd, zone)[0]!
    // A clock change may leave nothing of a short window.
    if (now < endsAt && startsAt < endsAt) return { startsAt, endsAt }
  }
  return { startsAt: null, endsAt: null }
}
