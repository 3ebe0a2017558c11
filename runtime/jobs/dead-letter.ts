/** The job that handles dead letters. */
import type { SystemContext } from '#runtime/context'
import { type Job, serverJob } from '#runtime/job'
import { z } from '#runtime/schema'
import { failedQueue } from './boss.ts'
import { handle } from './handle.ts'
import type { FetchedJob } from './rows.ts'

/** Options of the job that the worker runs for each entry of `failedQueue`, with the handler below instead of `run`. */
export const deadLetterJob: Job = serverJob(handle(failedQueue, z.unknown()), {
  description: 'Reports a job whose retries are used up',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 300,
  safeTwice: "A job's `failed` is called again only if it threw.",
  run: async () => {},
})

/**
 * Returns a function that calls the job's `failed` hook and the `jobFailed` extensions. Null if this release does not
 * have the job, or its store was deleted.
 */
export async function findDeadLetterHandler(
  jobs: ReadonlyMap<string, Job>,
  { data, name, jobId, reason, retryCount, retryLimit }: FetchedJob,
  system: SystemContext,
): Promise<(() => Promise<void>) | null> {
  const job = jobs.get(name)
  if (!job) return null // only another release has this job
  const ctx = job.store ? await system.forStore(data.storeId ?? '', data.userId) : system
  if (!ctx) return null
  const notify = async (): Promise<void> => {
    if (!job.store) return
    for (const onFailed of system.services.extensions.jobFailed)
      await onFailed(ctx as never, name, jobId, reason!)
  }
  return async () => {
    try {
      await job.spec.failed?.(ctx as never, data.payload as never, reason!)
    } catch (error) {
      // On the last retry the extensions are called even if the hook fails, for example because the payload is of an
      // earlier release.
      if (retryCount >= retryLimit) await notify()
      throw error
    }
    await notify()
  }
}
