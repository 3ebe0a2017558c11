/**
 * Decides how often the schedule syncs a mirror of the platform, and notes missed webhooks: hourly while webhooks announce
 * all changes, at each turn of the schedule for two hours after a webhook was missed.
 */

import { sql } from 'kysely'
import type { Context, SystemContext } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { connectedStores } from './connections.ts'

export type Mirror = 'orders' | 'carts'

/** An hour minus a turn of the schedule. */
const reconcileAfterMs = 55 * minuteMs
const closeWatchMs = 2 * hourMs
/** Webhooks arrive within minutes: a change found later than this was not announced. */
const announcedWithinMs = 10 * minuteMs

const missedAt = (mirror: Mirror): string => `${mirror}MissedAt`

/**
 * Like `connectedStores`, but only stores that are due. `syncedAt` is the field of the sync progress with the last
 * completed sync. An instant in the future was written by a wrong clock: the store is due.
 */
export const storesToSync = (mirror: Mirror, syncedAt: string) => (system: SystemContext) => {
  const now = system.clock.ms()
  const isWithin = (field: string, ms: number) => sql<boolean>`coalesce(
    (c.settings->>${field}::text)::timestamptz
      between ${new Date(now - ms)}::timestamptz and ${new Date(now)}::timestamptz, false)`
  return connectedStores(system).where(({ or, not }) =>
    or([not(isWithin(syncedAt, reconcileAfterMs)), isWithin(missedAt(mirror), closeWatchMs)]),
  )
}

/** The progress to save if the platform had lost its webhooks, or a sync wrote changes of these instants. */
export function noteMissed(
  ctx: Context,
  mirror: Mirror,
  { changes, wasMissing = false }: { changes: readonly string[]; wasMissing?: boolean },
): Record<string, unknown> {
  const isLate = (at: string): boolean => Date.parse(at) < ctx.clock.ms() - announcedWithinMs
  return wasMissing || changes.some(isLate) ? { [missedAt(mirror)]: ctx.now().toISOString() } : {}
}
