import { expect, test } from 'vitest'
import { tellOfFailure } from '#operations/store/files/job-notices'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

const app = await testApp()

test('a job that gave up is told once, in plain words, unless it tells itself', async () => {
  const shop = await store(app)
  const ctx = await shop.context()
  const quiet = app.registry.jobs.find(
    (job) => job.store && !job.spec.failed && !ctx.wired.exports[job.name],
  )!
  const jobId = newId(1)
  await tellOfFailure(ctx, quiet.name, jobId, 'connect ECONNREFUSED 10.0.0.1:5432')
  await tellOfFailure(ctx, quiet.name, jobId, 'connect ECONNREFUSED 10.0.0.1:5432')
  await tellOfFailure(ctx, 'list-import', newId(2), 'told by its own failed')
  await tellOfFailure(ctx, 'no-such-job', newId(3), 'of another version')
  const told = await app.database.root
    .selectFrom('notifications')
    .select(['type', 'level', 'data', 'message'])
    .where('store_id', '=', shop.id)
    .execute()
  expect(told).toEqual([
    { type: 'job-failed', level: 'error', data: { job: quiet.name, jobId }, message: expect.any(String) },
  ])
  expect(told[0]!.message).not.toContain('ECONNREFUSED')
})
