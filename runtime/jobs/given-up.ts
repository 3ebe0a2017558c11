/** The job that tells of those that were given up. */
import { type Job, serverJob } from '#runtime/job'
import { z } from '#runtime/schema'
import { failedQueue } from './boss.ts'
import { handle } from './handle.ts'

/** Stands for `failedQueue` among the jobs: the worker runs it itself. */
export const givenUp: Job = serverJob(handle(failedQueue, z.unknown()), {
  description: 'Tells of a job that was given up',
  retry: { limit: 5, backoffSeconds: 10 },
  timeoutSeconds: 300,
  safeTwice: "A job's `failed` may be called again where it failed itself.",
  run: async () => {},
})

/** Why a job was given up: what it threw last, or what pg-boss says of one whose worker is gone. */
export function reasonOf(output: unknown): string {
  const { message, value } = (output ?? {}) as { message?: string; value?: { message?: string } }
  return message ?? value?.message ?? 'unknown'
}
