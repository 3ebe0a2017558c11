/** Holds that end: what they held is due at once (rule 6). */
import { sql } from 'kysely'
import { checkRoute } from '#operations/messaging/door'
import type { Context } from '#runtime/context'
import type { Hold } from '../deciding/holds.ts'
import { isBehind } from '../deciding/mirrors.ts'
import { lockAutomations } from './claim.ts'
import { queueAdvance } from './schedule.ts'

/** In the caller's transaction, where there is one. Answers how many are due now. */
export async function releaseHolds(ctx: Context, reason: Hold['reason']): Promise<number> {
  return ctx.transaction(async (tx) => {
    const now = tx.now()
    const freed = await tx.db
      .updateTable('automation_executions')
      .set({ scheduled_at: now, updated_at: now })
      .where('status', '=', sql.lit('pending'))
      .where('hold_reason', 'is not', null)
      .where('hold_reason', '=', reason)
      .where('scheduled_at', '>', now)
      .returning('id')
      .execute()
    if (freed.length > 0) await queueAdvance(tx, [now])
    return freed.length
  })
}

/** Connected again: the sweep asks each minute, whoever connected it. */
export async function releaseConnected(ctx: Context): Promise<void> {
  const selected = await checkRoute(ctx)
  if ('connection' in selected) await releaseHolds(ctx, 'not-connected')
}

/** In the transaction in which a mirror has read all there is: what waited for it is due (rule 16). */
export async function mirrorRead(ctx: Context, before: Date | null): Promise<void> {
  if (!isBehind(before, ctx.now())) return
  // Who decides this moment knows of it, or has written down by then what it holds.
  await lockAutomations(ctx)
  await releaseHolds(ctx, 'provider-unavailable')
}
