/** The state machine of a connection's health (rule 19). Pure functions: no database, no clock. */
import { minuteMs, weekMs } from '#runtime/durations'

export type State = 'connected' | 'degraded' | 'lost'

export interface ConnectionHealth {
  state: State
  since: Date
  /** Code of the cause; null while `connected`. */
  code: string | null
  message: string | null
  remedy: string | null
  /** Recent failures, oldest first, while there are fewer than the threshold. */
  failedAt: readonly Date[]
  /** When a call last failed. The success of a call that started earlier does not count as recovery. */
  lastFailedAt: Date
  checkedAt: Date
  /** Whether the merchant was notified of the current loss of access. */
  isNotified: boolean
  /** When the merchant was last notified of lost access; `notifiedCode` is the cause of that loss. */
  notifiedAt: Date | null
  notifiedCode: string | null
  probes: number
  nextProbeAt: Date | null
}

interface Cause {
  code: string
  message: string
  remedy: string
}

export type HealthEvent =
  /** A call that started at `startedAt` succeeded. */
  | { kind: 'answered'; startedAt: Date }
  /** A call got no response. */
  | ({ kind: 'unanswered' } & Cause)
  /** Access is lost until somebody acts. */
  | ({ kind: 'lost' } & Cause)
  /** The merchant connected again. */
  | { kind: 'connected' }
  /** A probe changed nothing. */
  | { kind: 'probed' }

/** Three failures within 10 minutes, without a success between them, make a connection `degraded`. */
const failureThreshold = 3
const failureWindowMs = 10 * minuteMs
/** The merchant is not notified of the same loss twice within an hour, in case the connection flaps. */
const quietMs = 60 * minuteMs
const probesAfterMs = [1, 5, 15, 60].map((minutes) => minutes * minuteMs)
/** After a week of failure, probe only once a day. */
const slowProbeMs = 24 * 60 * minuteMs
/** No probe is scheduled more than 2 days ahead. If one is, the clock was set back after it was scheduled. */
const latestMs = 2 * slowProbeMs

export interface Step {
  next: ConnectionHealth
  /** The notification that the merchant gets now. */
  notifies: 'lost' | 'back' | null
}

/** The health after an event; null if nothing changes. */
export function nextHealth(
  before: ConnectionHealth | null,
  event: HealthEvent,
  now: Date,
  jitter = 1,
): Step | null {
  switch (event.kind) {
    case 'answered':
      return before && isUnhealthy(before) && isAfter(event.startedAt, before, now)
        ? recover(before, now)
        : null
    case 'connected':
      // After a reconnection the merchant is notified of the next loss, however soon it happens.
      return before && (isUnhealthy(before) || before.notifiedAt)
        ? resetNotification(recover(before, now))
        : null
    case 'probed':
      if (!before || !isUnhealthy(before)) return null
      return withNotification(
        { ...before, checkedAt: now, ...scheduleProbe(before, now, before.probes + 1, jitter) },
        now,
      )
    case 'lost': {
      const { code, message, remedy } = event
      const isNew = before?.state !== 'lost'
      const next = {
        ...(before ?? initialHealth(now)),
        ...{ state: 'lost' as const, code, message, remedy, failedAt: [], lastFailedAt: now, checkedAt: now },
        ...(isNew ? { since: now, isNotified: false } : {}),
      }
      return withNotification(withProbe(next, now, jitter), now)
    }
    case 'unanswered': {
      const known = before ?? initialHealth(now)
      const seen = { ...known, lastFailedAt: now, checkedAt: now }
      // Lost access is the more precise state, so a call without a response does not change it.
      if (known.state === 'lost') return withNotification(withProbe(seen, now, jitter), now)
      const { code, message, remedy } = event
      const failedAt = [
        ...known.failedAt
          .filter((at) => at <= now && now.getTime() - at.getTime() < failureWindowMs)
          .slice(1 - failureThreshold),
        now,
      ]
      if (known.state === 'degraded' || failedAt.length >= failureThreshold) {
        const since = known.state === 'degraded' ? known.since : now
        const next = { ...seen, state: 'degraded' as const, since, code, message, remedy, failedAt: [] }
        return { next: withProbe(next, now, jitter), notifies: null }
      }
      return { next: withProbe({ ...seen, failedAt }, now, jitter), notifies: null }
    }
  }
}

/**
 * Whether a call started after the last failure. If the last failure is more than a minute in the future, the clock was set
 * back and the instants cannot be compared: then the call counts.
 */
const isAfter = (startedAt: Date, { lastFailedAt }: ConnectionHealth, now: Date): boolean =>
  startedAt >= lastFailedAt || lastFailedAt.getTime() - now.getTime() > minuteMs

/** Whether a success would change anything. */
export const isUnhealthy = ({ state, failedAt }: Pick<ConnectionHealth, 'state' | 'failedAt'>): boolean =>
  state !== 'connected' || failedAt.length > 0

function recover(before: ConnectionHealth, now: Date): Step {
  const next: ConnectionHealth = {
    ...before,
    state: 'connected',
    since: before.state === 'connected' ? before.since : now,
    ...{ code: null, message: null, remedy: null, failedAt: [], checkedAt: now },
    ...{ isNotified: false, probes: 0, nextProbeAt: null },
  }
  return { next, notifies: before.state === 'lost' && before.isNotified ? 'back' : null }
}

const resetNotification = ({ next, notifies }: Step): Step => ({
  next: { ...next, notifiedAt: null, notifiedCode: null },
  notifies,
})

const initialHealth = (now: Date): ConnectionHealth => ({
  ...{ state: 'connected', since: now, code: null, message: null, remedy: null },
  ...{
    failedAt: [],
    lastFailedAt: now,
    checkedAt: now,
    isNotified: false,
    notifiedAt: null,
    notifiedCode: null,
  },
  ...{ probes: 0, nextProbeAt: null },
})

/** Decides whether to notify: once per loss, and at most once an hour while a connection flaps. */
function withNotification(next: ConnectionHealth, now: Date): Step {
  if (next.state !== 'lost' || next.isNotified) return { next, notifies: null }
  const isSame = next.notifiedCode === next.code && next.notifiedAt !== null
  if (isSame && Math.abs(now.getTime() - next.notifiedAt!.getTime()) < quietMs)
    return { next, notifies: null }
  return { next: { ...next, isNotified: true, notifiedAt: now, notifiedCode: next.code }, notifies: 'lost' }
}

/** Schedules a probe unless one is pending. A probe overdue by 10 minutes does not count: its job must have been lost. */
function withProbe(next: ConnectionHealth, now: Date, jitter: number): ConnectionHealth {
  const { nextProbeAt: at } = next
  const isPlanned = at !== null && at.getTime() - now.getTime() <= latestMs
  if (isPlanned && now.getTime() - at.getTime() < failureWindowMs) return next
  return { ...next, ...scheduleProbe(next, now, next.probes, jitter) }
}

function scheduleProbe({ since }: ConnectionHealth, now: Date, probes: number, jitter: number) {
  const isOld = now.getTime() - since.getTime() >= weekMs
  const afterMs = isOld ? slowProbeMs : probesAfterMs[Math.min(probes, probesAfterMs.length - 1)]!
  return { probes, nextProbeAt: new Date(now.getTime() + Math.round(afterMs * jitter)) }
}
