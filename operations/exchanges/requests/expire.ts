/** What goes by the clock: deadlines that passed, and notices whose job was lost. */

import { sql } from 'kysely'
import type { Context, SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'
import { Refusal } from '#runtime/errors'
import { exchangeNotify } from '../handles.ts'
import { byTheSystem } from './history.ts'
import { lockRequest, move } from './moves.ts'

const atOnce = 200
/** A notice that should have been looked at so long ago has lost its job. */
const forgottenMs = 10 * minuteMs

/** Approved requests that were not sent in time expire; their shoppers are told. */
export async function expireAll(system: SystemContext, signal: AbortSignal): Promise<void> {
  for (;;) {
    const due = await system.root
      .selectFrom('exchange_requests')
      .select(['store_id', 'id'])
      .where('status', '=', sql.lit('approved'))
      .where('expires_at', '<=', system.now())
      .orderBy('expires_at')
      .orderBy('id')
      .limit(atOnce)
      .execute()
    for (const { store_id: storeId, id } of due) {
      signal.throwIfAborted()
      const ctx = await system.forStore(storeId)
      if (ctx) await expire(ctx, id)
    }
    if (due.length < atOnce) return
  }
}

/** Conditional on state and deadline: it may have moved meanwhile. */
async function expire(ctx: Context, id: string): Promise<void> {
  try {
    await ctx.transaction(async (tx) => {
      const request = await lockRequest(tx, id)
      const { status, expires_at: deadline } = request
      if (status !== 'approved' || deadline === null || deadline > tx.now()) return
      await move(tx, request, 'expire', { actor: byTheSystem })
    })
  } catch (error) {
    // Deleted meanwhile.
    if (!(error instanceof Refusal)) throw error
  }
}

/** Queues the jobs of notices that wait without one. */
export async function resumeNotices(system: SystemContext): Promise<void> {
  const forgotten = await system.root
    .selectFrom('exchange_notices')
    .select(['store_id', 'id'])
    .where(sql<boolean>`state in ('waiting', 'sending')`)
    .where('next_try_at', '<=', new Date(system.now().getTime() - forgottenMs))
    .orderBy('next_try_at')
    .limit(atOnce)
    .execute()
  for (const { store_id: storeId, id: noticeId } of forgotten) {
    const ctx = await system.forStore(storeId)
    await ctx?.queue(exchangeNotify, { noticeId })
  }
}
