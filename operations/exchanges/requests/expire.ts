/** Periodic work: expires requests past their deadline and requeues notices that lost their job. */

import { sql } from 'kysely'
import type { Context, SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { ApiError } from '#runtime/errors'
import { exchangeNotify } from '../handles.ts'
import { systemActor } from './history.ts'
import { applyTransition, lockRequest } from './transitions.ts'

const batchSize = 200
/** A notice overdue for longer than this has lost its job. */
const orphanedMs = 10 * minuteMs

/** Expires approved requests that were not sent in time, and notifies their shoppers. */
export async function expireRequests(system: SystemContext, signal: AbortSignal): Promise<void> {
  for (;;) {
    const due = await system.root
      .selectFrom('exchange_requests')
      .select(['store_id', 'id'])
      .where('status', '=', sql.lit('approved'))
      .where('expires_at', '<=', system.now())
      .orderBy('expires_at')
      .orderBy('id')
      .limit(batchSize)
      .execute()
    for (const { store_id: storeId, id } of due) {
      signal.throwIfAborted()
      const ctx = await system.forStore(storeId)
      if (ctx) await expire(ctx, id)
    }
    if (due.length < batchSize) return
  }
}

/** Expires one request. Rechecks status and deadline under the lock, because the request may have changed meanwhile. */
async function expire(ctx: Context, id: string): Promise<void> {
  try {
    await ctx.transaction(async (tx) => {
      const request = await lockRequest(tx, id)
      const { status, expires_at: deadline } = request
      if (status !== 'approved' || deadline === null || deadline > tx.now()) return
      await applyTransition(tx, request, 'expire', { actor: systemActor })
    })
  } catch (error) {
    // The request was deleted meanwhile.
    if (!(error instanceof ApiError)) throw error
  }
}

/** Requeues the jobs of notices that are overdue by more than ten minutes. */
export async function resumeNotices(system: SystemContext): Promise<void> {
  const orphaned = await system.root
    .selectFrom('exchange_notices')
    .select(['store_id', 'id'])
    .where(sql<boolean>`state in ('waiting', 'sending')`)
    .where('next_try_at', '<=', new Date(system.now().getTime() - orphanedMs))
    .orderBy('next_try_at')
    .limit(batchSize)
    .execute()
  for (const { store_id: storeId, id: noticeId } of orphaned) {
    const ctx = await system.forStore(storeId)
    await ctx?.queue(exchangeNotify, { noticeId })
  }
}
