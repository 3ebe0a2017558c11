/** Releases holds: the held messages become due at once (rule 6). */
import { sql } from 'kysely'
import { checkRoute } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { isStale } from '../deciding/cache-freshness.ts'
import type { Hold } from '../deciding/holds.ts'
import { lockAutomations } from './claim.ts'
import { queueAdvance } from './schedule.ts'

/** Releases all messages held for `reason`, in the caller's transaction if there is one. Returns how many became due. */
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

/** Releases holds if a connection can send again. The sweep calls it every minute. */
export async function releaseIfConnected(ctx: Context): Promise<void> {
  const selected = await checkRoute(ctx)
  if ('connection' in selected) await releaseHolds(ctx, 'not-connected')
}

/**
 * Releases messages that were held while a cache was stale, in the transaction that completes its sync (rule 16).
 * `before`: the previous completed sync.
 */
export async function releaseAfterSync(ctx: Context, before: Date | null): Promise<void> {
  if (!isStale(before, ctx.now())) return
  // The lock orders this after concurrent decisions, so that their holds are released too. Later decisions see the sync.
  await lockAutomations(ctx)
  await releaseHolds(ctx, 'provider-unavailable')
}
