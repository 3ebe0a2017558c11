/** How a connection goes from well to trouble and back (rule 19). No database, no clock. */
import { minuteMs, weekMs } from '#runtime/durations'

export type State = 'connected' | 'degraded' | 'lost'

export interface Standing {
  state: State
  since: Date
  /** Why, of one that is not well. */
  code: string | null
  message: string | null
  remedy: string | null
  /** Failures that are not yet trouble, oldest first. */
  failedAt: readonly Date[]
  /** When it last failed, or was lost: a call that began before proves nothing. */
  troubledAt: Date
  checkedAt: Date
  /** Whether the merchant heard of this loss. */
  isTold: boolean
  /** Of the last loss that they heard of. */
  toldAt: Date | null
  toldCode: string | null
  probes: number
  nextProbeAt: Date | null
}

interface Cause {
  code: string
  message: string
  remedy: string
}

export type Heard =
  /** A call that began then was answered. */
  | { is: 'answered'; startedAt: Date }
  /** A call was not. */
  | ({ is: 'unanswered' } & Cause)
  /** Nothing will be, until somebody acts. */
  | ({ is: 'lost' } & Cause)
  /** Somebody connected it anew. */
  | { is: 'connected' }
  /** A probe found nothing new. */
  | { is: 'probed' }

/** So many failures within so long, nothing answered between them. */
const failuresAtMost = 3
const withinMs = 10 * minuteMs
/** The same loss again within so long was never well in between. */
const quietMs = 60 * minuteMs
const probesAfterMs = [1, 5, 15, 60].map((minutes) => minutes * minuteMs)
/** Whoever has not acted in a week will not be quicker for being looked at each hour. */
const rarelyMs = 24 * 60 * minuteMs
/** No probe is planned for later than that: one that is was planned by a clock that was put back. */
const latestMs = 2 * rarelyMs

export interface Step {
  next: Standing
  /** What the merchant hears now. */
  tells: 'lost' | 'back' | null
}

/** Where it stands after what was heard; null: nothing is to be written. */
export function after(before: Standing | null, heard: Heard, now: Date, jitter = 1): Step | null {
  switch (heard.is) {
    case 'answered':
      return before && isTroubled(before) && isAfter(heard.startedAt, before, now) ? well(before, now) : null
    case 'connected':
      // Whoever connects it anew hears of the next loss, however soon.
      return before && (isTroubled(before) || before.toldAt) ? renewed(well(before, now)) : null
    case 'probed':
      if (!before || !isTroubled(before)) return null
      return telling({ ...before, checkedAt: now, ...nextProbe(before, now, before.probes + 1, jitter) }, now)
    case 'lost': {
      const { code, message, remedy } = heard
      const isNew = before?.state !== 'lost'
      const next = {
        ...(before ?? fresh(now)),
        ...{ state: 'lost' as const, code, message, remedy, failedAt: [], troubledAt: now, checkedAt: now },
        ...(isNew ? { since: now, isTold: false } : {}),
      }
      return telling(probing(next, now, jitter), now)
    }
    case 'unanswered': {
      const known = before ?? fresh(now)
      const seen = { ...known, troubledAt: now, checkedAt: now }
      // Who has no access is not told more by silence.
      if (known.state === 'lost') return telling(probing(seen, now, jitter), now)
      const { code, message, remedy } = heard
      const failedAt = [
        ...known.failedAt
          .filter((at) => at <= now && now.getTime() - at.getTime() < withinMs)
          .slice(1 - failuresAtMost),
        now,
      ]
      if (known.state === 'degraded' || failedAt.length >= failuresAtMost) {
        const since = known.state === 'degraded' ? known.since : now
        const next = { ...seen, state: 'degraded' as const, since, code, message, remedy, failedAt: [] }
        return { next: probing(next, now, jitter), tells: null }
      }
      return { next: probing({ ...seen, failedAt }, now, jitter), tells: null }
    }
  }
}

/** A clock that was put back, by more than those of two machines differ, says nothing of before and after. */
const isAfter = (startedAt: Date, { troubledAt }: Standing, now: Date): boolean =>
  startedAt >= troubledAt || troubledAt.getTime() - now.getTime() > minuteMs

/** Whether an answer would be news. */
export const isTroubled = ({ state, failedAt }: Pick<Standing, 'state' | 'failedAt'>): boolean =>
  state !== 'connected' || failedAt.length > 0

function well(before: Standing, now: Date): Step {
  const next: Standing = {
    ...before,
    state: 'connected',
    since: before.state === 'connected' ? before.since : now,
    ...{ code: null, message: null, remedy: null, failedAt: [], checkedAt: now },
    ...{ isTold: false, probes: 0, nextProbeAt: null },
  }
  return { next, tells: before.state === 'lost' && before.isTold ? 'back' : null }
}

const renewed = ({ next, tells }: Step): Step => ({ next: { ...next, toldAt: null, toldCode: null }, tells })

const fresh = (now: Date): Standing => ({
  ...{ state: 'connected', since: now, code: null, message: null, remedy: null },
  ...{ failedAt: [], troubledAt: now, checkedAt: now, isTold: false, toldAt: null, toldCode: null },
  ...{ probes: 0, nextProbeAt: null },
})

/** Once for each loss; of one that comes and goes once an hour, as long as it lasts. */
function telling(next: Standing, now: Date): Step {
  if (next.state !== 'lost' || next.isTold) return { next, tells: null }
  const isSame = next.toldCode === next.code && next.toldAt !== null
  if (isSame && Math.abs(now.getTime() - next.toldAt!.getTime()) < quietMs) return { next, tells: null }
  return { next: { ...next, isTold: true, toldAt: now, toldCode: next.code }, tells: 'lost' }
}

/** A probe is planned, unless one is; of one that is long overdue its job was lost. */
function probing(next: Standing, now: Date, jitter: number): Standing {
  const { nextProbeAt: at } = next
  const isPlanned = at !== null && at.getTime() - now.getTime() <= latestMs
  if (isPlanned && now.getTime() - at.getTime() < withinMs) return next
  return { ...next, ...nextProbe(next, now, next.probes, jitter) }
}

function nextProbe({ since }: Standing, now: Date, probes: number, jitter: number) {
  const isOld = now.getTime() - since.getTime() >= weekMs
  const afterMs = isOld ? rarelyMs : probesAfterMs[Math.min(probes, probesAfterMs.length - 1)]!
  return { probes, nextProbeAt: new Date(now.getTime() + Math.round(afterMs * jitter)) }
}
