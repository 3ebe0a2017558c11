/** Processes a store's due messages in batches until nothing is due (rule 5). */
import type { Context } from '#runtime/context'
import { waitUntil } from '#runtime/pause'
import { claimDue } from './claim.ts'
import { makeCoupons } from './coupons.ts'
import { deliverBatch, recordResults } from './record.ts'
import { recoverDead } from './recover.ts'
import { type AdvanceWork, parseEndOfSecond, queueWork } from './schedule.ts'
import { findSendContext } from './send-context.ts'

/** A job occupies one of the worker's slots for at most `runMs`, or `sharedRunMs` while other jobs are waiting. */
const runMs = 20_000
const sharedRunMs = 1_000
const soonMs = 1_000

export async function advance(ctx: Context, work: AdvanceWork, signal: AbortSignal): Promise<void> {
  const at = new Date(work.at)
  // The queue uses the machine's clock, which may be ahead of `ctx.clock`.
  if (at > ctx.now()) {
    await requeueLater(ctx, work)
    return
  }
  const beganAt = performance.now()
  const isOver = async (): Promise<boolean> => {
    const ms = performance.now() - beganAt
    return signal.aborted || ms > runMs || (ms > sharedRunMs && (await hasBacklog(ctx)))
  }
  if (work.executionId === null) await recoverDead(ctx, await findSendContext(ctx))
  for (;;) {
    if (await isOver()) {
      await queueWork(ctx, { ...work, key: `more:${work.executionId ?? ''}`, at: ctx.now().toISOString() })
      return
    }
    const { seen, claims, coupons, nextSlotAt } = await claimDue(
      ctx,
      await findSendContext(ctx),
      work.executionId,
    )
    await makeCoupons(ctx, coupons)
    for (const claim of claims) {
      const { results, error } = await deliverBatch(ctx, claim)
      await recordResults(ctx, claim, results)
      if (error) throw error
    }
    // If other jobs are waiting, requeue instead of occupying a job slot until the number's next rate slot.
    if (nextSlotAt && ((await hasBacklog(ctx)) || !(await waitUntil(ctx.clock, nextSlotAt, signal)))) {
      const key = work.executionId === null ? 'turn' : `turn:${work.executionId}`
      await requeueLater(ctx, { ...work, key, at: nextSlotAt.toISOString() })
      return
    }
    if (seen === 0) break
  }
  await queueRestOfSecond(ctx, work)
}

/** Whether jobs of any store are waiting. */
const hasBacklog = async (ctx: Context): Promise<boolean> =>
  (await ctx.services.queue.backlog(['interactive'])).some(({ due }) => due > 0)

/** Requeues work that is not due yet. It runs when it is due, but at the earliest in a second. */
async function requeueLater(ctx: Context, work: AdvanceWork): Promise<void> {
  const soon = new Date(ctx.clock.ms() + soonMs)
  await queueWork(ctx, work, soon)
}

/** Queues another job if messages are due later in the second that this job covers. */
async function queueRestOfSecond(ctx: Context, work: AdvanceWork): Promise<void> {
  const end = parseEndOfSecond(work.key)
  if (!end || end <= ctx.now()) return
  const rest = await ctx.db
    .selectFrom('automation_executions')
    .select('id')
    .where('status', '=', 'pending')
    .where('scheduled_at', '>', ctx.now())
    .where('scheduled_at', '<', end)
    .limit(1)
    .execute()
  if (rest.length > 0) await queueWork(ctx, { ...work, key: `${work.key}+`, at: end.toISOString() })
}
