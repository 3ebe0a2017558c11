/** A release that had a queue for each job is upgraded: what it left goes on. */
import { expect, test } from 'vitest'
import { Worker } from '#runtime/jobs/worker'
import { jobsOfTests } from './worker-jobs.ts'

const { app, database, log, of, registry } = await jobsOfTests()
const { queue } = app.services
const { boss } = queue

test('what waited in the queue of a job waits as long, with the tries it had left; what no job takes is left alone', async () => {
  log.length = 0
  for (const name of ['test-keyed', 'test-gone'])
    await boss.createQueue(name, { policy: 'short', deadLetter: 'failed-jobs' })
  const old = (key: string, options: object = {}) =>
    boss.send('test-keyed', of(key), { singletonKey: key, retryLimit: 3, retryDelay: 60, ...options })
  await old('tried')
  const [tried] = await boss.fetch<object>('test-keyed')
  await boss.fail('test-keyed', tried!)
  await old('due')
  await old('scheduled', { priority: -1 })
  const later = await old('later', { startAfter: 600 })
  await boss.send('test-gone', of('gone'))

  await queue.moveOldJobs(true)
  expect((await queue.backlog()).filter(({ waiting }) => waiting > 0)).toMatchObject([
    { queue: 'interactive', waiting: 3, due: 1 },
    { queue: 'scheduled', waiting: 1, due: 1 },
  ])
  expect(await boss.findJobs('test-keyed')).toEqual([])
  expect(await boss.findJobs('test-gone', { queued: true })).toHaveLength(1)
  expect(await boss.findJobs('interactive', { id: tried!.id })).toMatchObject([{ retryLimit: 2 }])
  expect(await boss.findJobs('interactive', { id: later! })).toMatchObject([
    { singletonKey: `test-keyed:${of('').storeId}:later` },
  ])
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick').toSorted()).toEqual(['due', 'scheduled'])
  await app.advance(600_000)
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick').toSorted()).toEqual(['due', 'later', 'scheduled', 'tried'])
})

test('a worker moves them by itself, but for a queue in which an older worker still runs something', async () => {
  log.length = 0
  await boss.createQueue('test-crowd-a', { policy: 'short', deadLetter: 'failed-jobs' })
  await boss.send('test-keyed', of('moved'), { singletonKey: 'moved' })
  await boss.send('test-crowd-a', of('runs'), { singletonKey: 'runs' })
  await boss.send('test-crowd-a', of('waits'), { singletonKey: 'waits' })
  const [running] = await boss.fetch<object>('test-crowd-a')
  // So that pg-boss counts what runs.
  await boss.supervise()
  const worker = new Worker(app.services, registry.jobs, app.metrics)
  await worker.start()
  await expect.poll(() => log).toContain('moved')
  await worker.stop()
  expect(await boss.findJobs('test-crowd-a', { queued: true })).toHaveLength(1)
  await boss.complete('test-crowd-a', running!)
  await database.query('delete from pgboss.job', [])
})
