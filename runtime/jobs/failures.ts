/** Who wants to know of a job that failed for good: the section that tells the merchant. */
import type { Context } from '#runtime/context'

type Listener = (ctx: Context, jobName: string, jobId: string, reason: string) => Promise<void>
const listeners: Listener[] = []

export const onJobFailed = (listener: Listener): void => {
  listeners.push(listener)
}
export async function jobFailed(ctx: Context, jobName: string, jobId: string, reason: string): Promise<void> {
  for (const listener of listeners) await listener(ctx, jobName, jobId, reason)
}
