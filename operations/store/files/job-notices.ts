import { notify } from '#operations/notifications/door'
import type { Context } from '#runtime/context'
import * as exports from './exports.ts'

/** Tells the merchant of a job that gave up, unless the job tells more itself (its `failed`). */
export async function tellOfFailure(
  ctx: Context,
  jobName: string,
  jobId: string,
  _reason: string,
): Promise<void> {
  if (ctx.wired.exports[jobName]) {
    await exports.fail(ctx, jobId)
    return
  }
  const failed = ctx.services.catalog.job(jobName)
  if (!failed || failed.tellsOfFailure) return
  await notify(ctx, {
    type: 'job-failed',
    level: 'error',
    title: 'Work in the background failed',
    message: `It was tried several times and given up: ${failed.description.replace(/\.$/, '')}.`,
    data: { job: jobName, jobId },
    dedupeKey: `job-failed:${jobId}`,
  })
}
