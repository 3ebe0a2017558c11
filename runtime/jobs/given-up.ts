/** The job that tells of those that were given up. */
import type { SystemContext } from '#runtime/context'
import { type Job, serverJob } from '#runtime/job'
import { z } from '#runtime/schema'
import { failedQueue } from './boss.ts'
import { handle } from './handle.ts'
import type { FetchedJob } from './rows.ts'

/** Stands for `failedQueue` among the jobs: the worker runs it itself. */
export const givenUp: Job = serverJob(handle(failedQueue, z.unknown()), {
  description: 'Tells of a job that was given up',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 300,
  safeTwice: "A job's `failed` may be called again where it failed itself.",
  run: async () => {},
})

/** What calls the `failed` of a job that was given up, and who wants to know of it; null where there is nobody to tell. */
export async function tellingOf(
  jobs: ReadonlyMap<string, Job>,
  { data, name, jobId, reason, retryCount, retryLimit }: FetchedJob,
  system: SystemContext,
): Promise<(() => Promise<void>) | null> {
  const job = jobs.get(name)
  if (!job) return null // of a version that had it
  const ctx = job.store ? await system.forStore(data.storeId ?? '', data.userId) : system
  if (!ctx) return null
  const tell = async (): Promise<void> => {
    if (!job.store) return
    for (const told of system.services.wired.jobFailed) await told(ctx as never, name, jobId, reason!)
  }
  return async () => {
    try {
      await job.spec.failed?.(ctx as never, data.payload as never, reason!)
    } catch (error) {
      // The job cannot say it itself, as with a payload of an earlier version, and is not asked again.
      if (retryCount >= retryLimit) await tell()
      throw error
    }
    await tell()
  }
}
