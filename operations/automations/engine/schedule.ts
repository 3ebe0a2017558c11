/** Jobs for what is due: one for all messages of a store that are due in one second. */

import type { Context, Queued } from '#runtime/context'
import { secondMs } from '#runtime/durations'
import { automationAdvance } from '../handles.ts'

/** What the job `automation-advance` is given. */
export interface AdvanceWork {
  /** One at a time of a key: a second, or something of its own. */
  key: string
  /** When it is due, ISO 8601. */
  at: string
  /** The one that was claimed for `run`, or by hand; null: whatever is due. */
  executionId: string | null
}

/**
 * Nearer ones get a job of their own: one that waits already could be taken up before this transaction is to be seen.
 */
const sharedAfterMs = 10_000

/** In the transaction that makes or moves executions: a job at each instant. */
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

/** `notBefore`: where the job is to wait longer than what it is for. */
export async function queueWork(ctx: Context, work: AdvanceWork, notBefore?: Date): Promise<Queued> {
  const at = new Date(work.at)
  return ctx.queue(automationAdvance, work, { at: notBefore && notBefore > at ? notBefore : at })
}

/** The job of a claimed execution. */
export const queueOne = (ctx: Context, executionId: string): Promise<Queued> =>
  queueWork(ctx, { key: `execution:${executionId}`, at: ctx.now().toISOString(), executionId })

/** The end of the second that a job stands for, or null: of its own key. */
export function endOfSecond(key: string): Date | null {
  const second = /^second:(\d+)$/.exec(key)?.[1]
  return second === undefined ? null : new Date((Number(second) + 1) * secondMs)
}
