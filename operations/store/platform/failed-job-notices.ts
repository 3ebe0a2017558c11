import { notify } from '#operations/notifications/index'
import type { Context } from '#runtime/context'
import * as exports from '../files/exports.ts'

/** Notifies the merchant that a job has failed for good, unless the job has its own `failed` function. */
export async function notifyJobFailure(
  ctx: Context,
  jobName: string,
  jobId: string,
  _reason: string,
): Promise<void> {
  if (ctx.extensions.exports[jobName]) {
    await exports.fail(ctx, jobId)
    return
  }
  const failed = ctx.services.catalog.job(jobName)
  if (!failed || failed.handlesFailure) return
  await notify(ctx, {
    type: 'job-failed',
    level: 'error',
    title: 'Work in the background failed',
    message: `It was tried several times and given up: ${failed.description.replace(/\.$/, '')}.`,
    data: { job: jobName, jobId },
    dedupeKey: `job-failed:${jobId}`,
  })
}
