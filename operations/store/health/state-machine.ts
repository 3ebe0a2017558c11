/** The state machine of a connection's health (rule 19). No database, no clock. */
import { minuteMs, weekMs } from '#runtime/durations'

export type State = 'connected' | 'degraded' | 'lost'

export interface ConnectionHealth {
  state: State
  since: Date
  /** The cause, if it is not `connected`. */
  code: string | null
  message: string | null
  remedy: string | null
  /** Recent failures below the threshold, oldest first. */
  failedAt: readonly Date[]
  /** The last failure: a success of a call that started earlier proves nothing. */
  lastFailedAt: Date
  checkedAt: Date
  /** Whether the merchant was notified of this loss. */
  isNotified: boolean
  /** When and of which loss the merchant was last notified. */
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
  /** A call that started then succeeded. */
  | { kind: 'answered'; startedAt: Date }
  /** A call got no answer. */
  | ({ kind: 'unanswered' } & Cause)
  /** Access is lost until somebody acts. */
  | ({ kind: 'lost' } & Cause)
  /** It was reconnected. */
  | { kind: 'connected' }
  /** A probe changed nothing. */
  | { kind: 'probed' }

/** This many failures within the window, without a success between them, make it `degraded`. */
const failureThreshold = 3
const failureWindowMs = 10 * minuteMs
/** The same loss within this time is not notified again: the connection is flapping. */
const quietMs = 60 * minuteMs
const probesAfterMs = [1, 5, 15, 60].map((minutes) => minutes * minuteMs)
/** After a week of failure, probe only once a day. */
const slowProbeMs = 24 * 60 * minuteMs
/** No probe is scheduled later than this; a later one was scheduled before the clock was set back. */
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
      // After a reconnection the next loss is notified, however soon.
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
      // No answer adds nothing to lost access.
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

/** If the clock was set back by more than the skew between machines, the order cannot be compared. */
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

/** Notifies once per loss, and at most once an hour while a connection flaps. */
function withNotification(next: ConnectionHealth, now: Date): Step {
  if (next.state !== 'lost' || next.isNotified) return { next, notifies: null }
  const isSame = next.notifiedCode === next.code && next.notifiedAt !== null
  if (isSame && Math.abs(now.getTime() - next.notifiedAt!.getTime()) < quietMs)
    return { next, notifies: null }
  return { next: { ...next, isNotified: true, notifiedAt: now, notifiedCode: next.code }, notifies: 'lost' }
}

/** Schedules a probe unless one is pending; a long overdue one has lost its job. */
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
