import { expect, test } from 'vitest'
import { notifyJobFailure } from '#operations/store/platform/failed-job-notices'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('a failed job notifies once, in plain words, unless the job notifies itself', async () => {
  const shop = await store(app)
  const ctx = await shop.context()
  const quiet = app.registry.jobs.find(
    (job) => job.store && !job.spec.failed && !ctx.extensions.exports[job.name],
  )!
  const jobId = newId(1)
  await notifyJobFailure(ctx, quiet.name, jobId, 'connect ECONNREFUSED 10.0.0.1:5432')
  await notifyJobFailure(ctx, quiet.name, jobId, 'connect ECONNREFUSED 10.0.0.1:5432')
  await notifyJobFailure(ctx, 'list-import', newId(2), 'notified by its own failed')
  await notifyJobFailure(ctx, 'no-such-job', newId(3), 'of another version')
  const notifications = await app.database.root
    .selectFrom('notifications')
    .select(['type', 'level', 'data', 'message'])
    .where('store_id', '=', shop.id)
    .execute()
  expect(notifications).toEqual([
    { type: 'job-failed', level: 'error', data: { job: quiet.name, jobId }, message: expect.any(String) },
  ])
  expect(notifications[0]!.message).not.toContain('ECONNREFUSED')
})
