/** Computes when a countdown runs (rule 3). Pure: needs no database and no clock. */

import { addDays, localDay } from '#runtime/values/days'
import { findInstants } from '#runtime/values/wall-clock'
import type { Countdown } from './schema.ts'

export interface Run {
  startsAt: Date | null
  endsAt: Date | null
}

export type CountdownState = 'off' | 'scheduled' | 'running' | 'ended'

/**
 * Days to look ahead for the next window. A clock change may remove a weekly window; then the next one is two weeks after
 * the last.
 */
const daysAhead = 15

/**
 * The current or next run; a `fixed` countdown has only one run. `zone` is the countdown's time zone, or the store's if the
 * countdown has none.
 */
export function findRun(countdown: Countdown, zone: string, now: Date): Run {
  if (countdown.type === 'evergreen') return { startsAt: null, endsAt: null }
  if (countdown.type === 'daily') return findDailyRun(countdown, zone, now)
  return {
    startsAt: parseLocalTime(countdown.startLocal, zone),
    endsAt: parseLocalTime(countdown.endLocal, zone),
  }
}

/** The state at `now`. A run includes its start and excludes its end. */
export function computeState(countdown: Countdown, run: Run, isOn: boolean, now: Date): CountdownState {
  if (!isOn) return 'off'
  if (countdown.type === 'evergreen') return 'running'
  if (countdown.type === 'daily' && run.startsAt === null) return 'scheduled'
  if (run.endsAt && now >= run.endsAt) return 'ended'
  return run.startsAt && now < run.startsAt ? 'scheduled' : 'running'
}

const parseLocalTime = (text: string | null, zone: string): Date | null =>
  text === null ? null : findInstants(text.slice(0, 10), text.slice(11), zone)[0]!

/**
 * Finds the current or next daily window. A window belongs to the weekday of its start. If its end time is not after its
 * start time, it ends the next day.
 */
function findDailyRun({ dailyStart, dailyEnd, weekdays }: Countdown, zone: string, now: Date): Run {
  const today = localDay(now, zone)
  const overnight = dailyEnd <= dailyStart ? 1 : 0
  for (let ahead = -1; ahead <= daysAhead; ahead += 1) {
    const day = addDays(today, ahead)
    if (!weekdays.includes(new Date(day).getUTCDay() || 7)) continue
    const startsAt = findInstants(day, dailyStart, zone)[0]!
    const endsAt = findInstants(addDays(day, overnight), dailyEnd, zone)[0]!
    // A clock change may remove a short window completely.
    if (now < endsAt && startsAt < endsAt) return { startsAt, endsAt }
  }
  return { startsAt: null, endsAt: null }
}
