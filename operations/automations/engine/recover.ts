/** Recovers messages whose worker died while sending them (rule 5). */

import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { decide } from '../deciding/decide.ts'
import { readRows } from '../deciding/rows.ts'
import type { Claim } from './claim.ts'
import { executions, type Message } from './outbox-source.ts'
import { deliverBatch, recordResults } from './record.ts'
import { isRoute, readDecisionContext, type SendContext, type SendRoute } from './send-context.ts'

/** How long a message may be resent under the same idempotency key. */
const resendForMs = dayMs
const batchSize = 200

/**
 * Recovers the claims of dead workers. Messages for which the provider was not called yet become pending. The others are
 * resent under their idempotency key if the provider supports it and the message may still be sent; otherwise their
 * outcome becomes indeterminate after ten minutes.
 */
export async function recoverDead(ctx: Context, sendContext: SendContext): Promise<void> {
  const dead = await claimDead(ctx)
  if (!dead) return
  const getRoute = (message: Message): SendRoute | null => {
    const route = message.isManual ? sendContext.official : sendContext.selected
    return isRoute(route) ? route : null
  }
  const verdicts = await reevaluate(ctx, sendContext, dead.messages)
  for (const [route, messages] of Map.groupBy(dead.messages, getRoute)) {
    const resendable = messages.filter(({ id }) => verdicts.get(id) === 'send')
    const error = route?.isIdempotent ? await resend(ctx, { id: dead.id, route, messages: resendable }) : null
    const getWaitMs = (id: string): number =>
      route?.isIdempotent && verdicts.get(id) !== 'never' ? resendForMs : outbox.indeterminateAfterMs
    await outbox.recordOutcomes(
      ctx,
      executions,
      messages.map(({ id }) => id),
      ({ id, calledAt: at }) =>
        ctx.clock.ms() - +at! >= getWaitMs(id) ? { kind: 'indeterminate', at: at! } : null,
      dead.id,
    )
    if (error) throw error
  }
}

/**
 * Resends a claim and records the results. Returns an unexpected error, which the caller throws once it has recorded
 * all outcomes.
 */
async function resend(ctx: Context, claim: Claim): Promise<unknown> {
  const { results, error } = await deliverBatch(ctx, claim, true)
  await recordResults(ctx, claim, results)
  return error
}

type Verdict = 'send' | 'later' | 'never'

/**
 * Decides about the messages again, because a purchase, an opt-out or quiet hours since the call may forbid sending
 * them now.
 */
async function reevaluate(
  ctx: Context,
  sendContext: SendContext,
  messages: readonly Message[],
): Promise<Map<string, Verdict>> {
  const rows = await readRows(
    ctx,
    messages.map(({ id }) => id),
  )
  const context = await readDecisionContext(ctx, sendContext, rows)
  return new Map(
    rows.map((row) => {
      const { kind } = decide(row, context)
      const isLater = kind === 'wait' || kind === 'held' || kind === 'coupon'
      return [row.id, kind === 'send' ? 'send' : isLater ? 'later' : 'never']
    }),
  )
}

async function claimDead(ctx: Context): Promise<{ id: string; messages: Message[] } | null> {
  return ctx.transaction(async (tx) => {
    const ids = await tx.db
      .selectFrom('automation_executions')
      .select('id')
      .where('status', '=', sql.lit('sending'))
      .where('claimed_at', '<=', new Date(tx.clock.ms() - outbox.deadAfterMs))
      .orderBy('claimed_at')
      .limit(batchSize)
      .forUpdate()
      .skipLocked()
      .execute()
    if (ids.length === 0) return null
    const called: Message[] = []
    await outbox.recordOutcomes(
      tx,
      executions,
      ids.map(({ id }) => id),
      (row) => {
        if (row.calledAt === null) return { kind: 'requeued', because: null }
        called.push(row)
        return null
      },
    )
    if (called.length === 0) return null
    const id = tx.newId()
    await tx.db
      .updateTable('automation_executions')
      // `called_at` is kept: it shows how long the outcome has been unknown.
      .set({ claim_id: id, claimed_at: tx.now(), updated_at: tx.now() })
      .where('id', '=', sql<string>`any(${called.map((row) => row.id)}::uuid[])`)
      .execute()
    return { id, messages: called }
  })
}
