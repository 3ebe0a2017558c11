/** Upgrade from a release with a queue per job: its jobs continue. */
import { expect, test } from 'vitest'
import { Worker } from '#runtime/jobs/worker'
import { createTestJobs } from './worker-jobs.ts'

const { app, database, failing, heard, keyed, log, of, registry } = await createTestJobs()
const { queue } = app.services
const { boss } = queue

test('jobs in a queue of their own keep their delay and their remaining attempts; jobs without a handler are left alone', async () => {
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

test('a worker moves them by itself, except from a queue in which an older worker still runs a job', async () => {
  log.length = 0
  await boss.createQueue('test-crowd-a', { policy: 'short', deadLetter: 'failed-jobs' })
  await boss.send('test-keyed', of('moved'), { singletonKey: 'moved' })
  await boss.send('test-crowd-a', of('runs'), { singletonKey: 'runs' })
  await boss.send('test-crowd-a', of('waits'), { singletonKey: 'waits' })
  const [running] = await boss.fetch<object>('test-crowd-a')
  // So that pg-boss counts running jobs.
  await boss.supervise()
  const worker = new Worker(app.services, registry.jobs, app.metrics)
  await worker.start()
  await expect.poll(() => log).toContain('moved')
  await worker.stop()
  expect(await boss.findJobs('test-crowd-a', { queued: true })).toHaveLength(1)
  await boss.complete('test-crowd-a', running!)
  await database.query('delete from pgboss.job', [])
})

test('a delayed job is due no sooner if another one of its key already waits', async () => {
  log.length = 0
  await boss.createQueue(keyed.name, { policy: 'standard', deadLetter: 'failed-jobs' })
  await boss.send(keyed.name, of('key', 'old'), { startAfter: 600 })
  await queue.send(keyed.handle, of('key', 'new'), { afterSeconds: 1200 })
  await queue.moveOldJobs(true)
  await app.drainJobs()
  expect(log).not.toContain('new')
  await app.advance(600_000)
  await app.drainJobs()
  expect(log).toContain('new')
  await database.query('delete from pgboss.job', [])
})

test('a job with an invalid payload does not stop others from being moved, and becomes a dead letter', async () => {
  log.length = 0
  heard.length = 0
  for (const { name } of [failing, keyed])
    await boss.createQueue(name, { policy: 'standard', deadLetter: 'failed-jobs' })
  await boss.send(failing.name, { ...of('x'), payload: { name: 7 } }, { retryLimit: 1 })
  await boss.send(failing.name, of('beside'), { retryLimit: 0 })
  await boss.send(keyed.name, of('behind'))
  await queue.moveOldJobs(true)
  await queue.moveOldJobs(true)
  for (let tries = 0; tries < 4; tries += 1) {
    await app.drainJobs({ allowFailures: true })
    await app.advance(3_600_000)
  }
  expect(log).toContain('behind')
  expect(log).toContain('beside gave up: as told')
  expect(
    heard.filter((line) => line.includes('Expected string') || line.includes('expected string')),
  ).toHaveLength(1)
  await database.query('delete from pgboss.job', [])
})

test('a job that such a release gave up is reported, also if it was requeued first', async () => {
  await boss.createQueue('test-lost', { policy: 'standard', deadLetter: 'failed-jobs' })
  await boss.send('test-lost', of('x'), { retryLimit: 0 })
  const [old] = await boss.fetch<object>('test-lost')
  await boss.fail('test-lost', old!, { message: 'as told' })
  const [given] = await queue.fetch('failed-jobs', 1)
  expect(given).toMatchObject({ jobId: old!.id, name: 'test-lost', reason: 'as told' })
  await queue.requeue(given!, 0)
  const { jobId, name, reason } = given!
  expect(await queue.fetch('failed-jobs', 1)).toMatchObject([{ jobId, name, reason }])
  await database.query('delete from pgboss.job', [])
})
