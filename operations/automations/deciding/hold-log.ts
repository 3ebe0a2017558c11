/**
 * Logs the state of an automation for each hold reason but quiet hours: `waiting` at the first held message, `resumed` or
 * `finished` after the last one.
 */
import { sql } from 'kysely'
import type { Context } from '#runtime/context'

/** A message whose hold may have changed. */
export interface HoldChange {
  id: string
  automationId: string
  before: string | null
  after: string | null
  status: string
}

/** Quiet hours are the merchant's own setting. */
const isCause = (reason: string | null): reason is string => reason !== null && reason !== 'quiet-hours'
const endedStatuses = ['failed', 'skipped', 'cancelled']

/** Call it after the changes are written, in their transaction. A held message keeps its hold while it is sent. */
export async function logHolds(tx: Context, changes: readonly HoldChange[]): Promise<void> {
  const changed = changes.filter(({ before, after }) => before !== after)
  for (const [automationId, its] of Map.groupBy(changed, (each) => each.automationId)) {
    for (const reason of new Set(its.flatMap(({ before, after }) => [before, after]).filter(isCause))) {
      const released = its.filter(({ before }) => before === reason)
      const held = its.filter(({ after }) => after === reason).map(({ id }) => id)
      const hadHeld = released.length > 0 && held.length > 0
      if (hadHeld || (await hasOtherHeld(tx, automationId, reason, held))) continue
      const hasEnded = released.every(({ status }) => endedStatuses.includes(status))
      const state = held.length > 0 ? 'waiting' : hasEnded ? 'finished' : 'resumed'
      await tx.logWorkState(state, reason, { automationId })
    }
  }
}

/** Whether messages of the automation other than `ids` are held for the reason. */
async function hasOtherHeld(
  tx: Context,
  automationId: string,
  reason: string,
  ids: readonly string[],
): Promise<boolean> {
  const others = await tx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('automation_id', '=', automationId)
    .where('status', 'in', [sql.lit('pending'), sql.lit('sending')])
    .where('hold_reason', '=', reason)
    .where('id', '<>', sql<string>`all(${ids}::uuid[])`)
    .limit(1)
    .execute()
  return others.length > 0
}
