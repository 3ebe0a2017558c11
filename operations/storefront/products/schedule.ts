/** Schedules (rule 12): `[startsAt, endsAt)`. A null start means at once, a null end means no end. */
import { refuse } from '#runtime/errors'
import { instant, type z } from '#runtime/schema'

export const scheduleFields = {
  startsAt: instant.nullable().describe('Null: at once'),
  endsAt: instant.nullable().describe('Null: never. That instant no longer counts'),
}
export const schedulesShown = { startsAt: instant.nullable(), endsAt: instant.nullable() }

export interface Schedule {
  startsAt: string | null
  endsAt: string | null
}
export type ScheduleChange = { [K in keyof Schedule]?: z.infer<typeof instant> | null | undefined }

export const always: Schedule = { startsAt: null, endsAt: null }

/** Merges a change; fields left out keep their value. Refuses an end before the start, and a new end in the past. */
export function mergeSchedule(now: Date, before: Schedule, change: ScheduleChange): Schedule {
  const { startsAt = before.startsAt, endsAt = before.endsAt } = change
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) {
    throw refuse('bad_request', 'endsAt: must be after startsAt')
  }
  if (endsAt !== null && endsAt !== before.endsAt && endsAt <= now.toISOString()) {
    throw refuse('bad_request', 'endsAt: must not be in the past')
  }
  return { startsAt, endsAt }
}

export type Phase = 'scheduled' | 'running' | 'ended'

/** The phase at `now`. The end is checked first. */
export function getPhase({ startsAt, endsAt }: Schedule, now: Date): Phase {
  const at = now.toISOString()
  if (endsAt !== null && endsAt <= at) return 'ended'
  return startsAt !== null && startsAt > at ? 'scheduled' : 'running'
}

/** The next instant at which one of the schedules starts or ends, or null. */
export function findNextChange(schedules: readonly Schedule[], now: Date): Date | null {
  const at = now.toISOString()
  const coming = schedules
    .flatMap(({ startsAt, endsAt }) => [startsAt, endsAt])
    .filter((each): each is string => each !== null && each > at)
    .sort()
  return coming[0] === undefined ? null : new Date(coming[0])
}
