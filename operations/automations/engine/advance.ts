/** The run of a store's due messages: batch after batch, until nothing is due (rule 5). */
import type { Context } from '#runtime/context'
import { clockReaches } from '#runtime/pause'
import { claimDue } from './claim.ts'
import { makeCoupons } from './coupons.ts'
import { deliverBatch, recordResults } from './record.ts'
import { recoverDead } from './recover.ts'
import { type AdvanceWork, endOfSecond, queueWork } from './schedule.ts'
import { findMeans } from './surroundings.ts'

/** A run holds one of the worker's few places: for so long, or for so long while others wait for it. */
const runMs = 20_000
const sharedRunMs = 1_000
const soonMs = 1_000

export async function advance(ctx: Context, work: AdvanceWork, signal: AbortSignal): Promise<void> {
  const at = new Date(work.at)
  // The queue goes by the machine's clock, which may be ahead of ours.
  if (at > ctx.now()) {
    await queueLater(ctx, work)
    return
  }
  const beganAt = performance.now()
  const isOver = async (): Promise<boolean> => {
    const ms = performance.now() - beganAt
    return signal.aborted || ms > runMs || (ms > sharedRunMs && (await othersWait(ctx)))
  }
  if (work.executionId === null) await recoverDead(ctx, await findMeans(ctx))
  for (;;) {
    if (await isOver()) {
      await queueWork(ctx, { ...work, key: `more:${work.executionId ?? ''}`, at: ctx.now().toISOString() })
      return
    }
    const { seen, claims, coupons, nextTurn } = await claimDue(ctx, await findMeans(ctx), work.executionId)
    await makeCoupons(ctx, coupons)
    for (const claim of claims) {
      const { told, error } = await deliverBatch(ctx, claim)
      await recordResults(ctx, claim, told)
      if (error) throw error
    }
    // Nobody's messages wait for a place that is held for those of a number that has to wait.
    if (nextTurn && ((await othersWait(ctx)) || !(await clockReaches(ctx.clock, nextTurn, signal)))) {
      const key = work.executionId === null ? 'turn' : `turn:${work.executionId}`
      await queueLater(ctx, { ...work, key, at: nextTurn.toISOString() })
      return
    }
    if (seen === 0) break
  }
  await lookAtRest(ctx, work)
}

/** Of whichever store. */
const othersWait = async (ctx: Context): Promise<boolean> =>
  (await ctx.services.queue.backlog(['interactive'])).some(({ due }) => due > 0)

/** For its time, which the clock has not reached: looked at again a second from now at the earliest. */
async function queueLater(ctx: Context, work: AdvanceWork): Promise<void> {
  const soon = new Date(ctx.clock.ms() + soonMs)
  await queueWork(ctx, work, soon)
}

/** Others of the second that the job stands for, due a little later. */
async function lookAtRest(ctx: Context, work: AdvanceWork): Promise<void> {
  const end = endOfSecond(work.key)
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
