/** Queues jobs for due messages: one job for all messages of a store due in the same second. */

import type { Context, Queued } from '#runtime/context'
import { secondMs } from '#runtime/durations'
import { automationAdvance } from '../handles.ts'

/** The payload of the job `automation-advance`. */
export interface AdvanceWork {
  /** Jobs with the same key run one at a time. A key names either a second or a single job. */
  key: string
  /** When the work is due, ISO 8601. */
  at: string
  /** The execution to send, if a member sends it by hand or with the operation `run`; null for everything that is due. */
  executionId: string | null
}

/**
 * A message due within ten seconds gets its own job: a job shared with other messages could start before this transaction
 * commits, and miss it.
 */
const sharedAfterMs = 10_000

/** Queues a job for each instant, in the transaction that creates or moves executions. */
export async function queueAdvance(ctx: Context, instants: readonly Date[]): Promise<void> {
  const now = ctx.clock.ms()
  const firsts = new Map<number, number>()
  for (const instant of instants) {
    const ms = Math.max(instant.getTime(), now)
    const second = Math.floor(ms / secondMs)
    firsts.set(second, Math.min(firsts.get(second) ?? ms, ms))
  }
  for (const [second, ms] of firsts) {
    const key = ms - now > sharedAfterMs ? `second:${second}` : `soon:${ctx.newId()}`
    await queueWork(ctx, { key, at: new Date(ms).toISOString(), executionId: null })
  }
}

/** Queues a job for the time at which the work is due, but not before `notBefore`. */
export async function queueWork(ctx: Context, work: AdvanceWork, notBefore?: Date): Promise<Queued> {
  const at = new Date(work.at)
  return ctx.queue(automationAdvance, work, { at: notBefore && notBefore > at ? notBefore : at })
}

/** Queues the job of a claimed execution. */
export const queueExecution = (ctx: Context, executionId: string): Promise<Queued> =>
  queueWork(ctx, { key: `execution:${executionId}`, at: ctx.now().toISOString(), executionId })

/** The end of the second that a job covers; null if its key does not name a second. */
export function parseEndOfSecond(key: string): Date | null {
  const second = /^second:(\d+)$/.exec(key)?.[1]
  return second === undefined ? null : new Date((Number(second) + 1) * secondMs)
}
