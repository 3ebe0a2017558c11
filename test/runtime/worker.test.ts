// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/** Guarantees of the worker for every job. */
import { expect, test } from 'vitest'
import { handle } from '#runtime/jobs/handle'
import { Worker } from '#runtime/jobs/worker'
import { object } from '#runtime/schema'
import { store } from '#test/support/store'
import { createTestJobs } from './worker-jobs.ts'

const {
  app,
  begun,
  crowd,
  ctx,
  database,
  failing,
  heard,
  holdBack,
  keyed,
  log,
  lost,
  of,
  registry,
  seen,
  shop,
} = await createTestJobs()

test('a job is queued together with its cause, or not at all', async () => {
  log.length = 0
  await expect(
    ctx.transaction(async (tx) => {
      await tx.queue(keyed.handle, { name: 'undone', key: 'a' })
      throw new Error('rolled back')
    }),
  ).rejects.toThrow('rolled back')
  await ctx.transaction((tx) => tx.queue(keyed.handle, { name: 'done', key: 'a' }))
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick')).toEqual(['done'])
})

test('a waiting job is moved to an earlier request, but not to a later one', async () => {
  log.length = 0
  const inMinutes = (minutes: number) => ({ at: new Date(app.clock.ms() + minutes * 60_000) })
  const first = await ctx.queue(keyed.handle, { name: 'once', key: 'sooner' }, inMinutes(60))
  expect((await ctx.queue(keyed.handle, { name: 'again', key: 'sooner' }, inMinutes(90))).jobId).toBe(
    first.jobId,
  )
  await ctx.transaction(async (tx) => {
    const sooner = await tx.queue(keyed.handle, { name: 'again', key: 'sooner' }, inMinutes(10))
    expect(sooner.jobId).toBe(first.jobId)
  })
  await app.advance(9 * 60_000)
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick')).toEqual([])
  await app.advance(60_000)
  await app.drainJobs()
  expect(log.filter((line) => line !== 'tick')).toEqual(['once'])
})

test('scheduled jobs of all stores leave slots for interactive jobs', async () => {
  log.length = 0
  const letGo = holdBack()
  const { queue } = app.services
  await app.drainJobs() // scheduled jobs that are due would occupy a slot
  const keys = Array.from({ length: 30 }, (_, at) => `clock ${at}`)
  for (const { handle: each } of crowd)
    await queue.sendScheduled(
      each,
      keys.map((key) => of(key)),
    )
  // One job per key waits.
  await queue.sendScheduled(
    crowd[0]!.handle,
    keys.map((key) => of(key)),
  )
  const drained = app.drainJobs()
  // None of them ends yet.
  await expect.poll(() => begun.length).toBeGreaterThan(0)
  await ctx.queue(keyed.handle, { name: 'awaited', key: 'crowd' })
  await expect.poll(() => log).toContain('awaited')
  expect(begun.length).toBeLessThan(keys.length)
  const kept = await database.query<{ seconds: number }>(
    `select distinct deletion_seconds as seconds from pgboss.job where data->>'job' = 'test-crowd-b'`,
    [],
  )
  expect(kept).toEqual([{ seconds: 600 }])
  letGo()
  await drained
  expect(begun.toSorted()).toEqual([...keys, ...keys].toSorted())
})

test('a store with thousands of jobs leaves slots for other stores', async () => {
  log.length = 0
  const letGo = holdBack()
  const other = await store(app)
  const many = Array.from({ length: 20 }, (_, at) => of(`crowd ${at}`))
  for (const envelope of many) await app.services.queue.send(crowd[0]!.handle, envelope)
  await app.services.queue.send(crowd[0]!.handle, { ...of('the other'), storeId: other.id })
  const drained = app.drainJobs()
  await expect.poll(() => begun).toContain('the other')
  letGo()
  await drained
  expect(begun).toHaveLength(21)
})

test('a failing job is retried with backoff, then becomes a dead letter and is reported', async () => {
  log.length = 0
  await ctx.queue(failing.handle, { name: 'it' })
  for (let tries = 0; tries < 4; tries += 1) {
    await app.drainJobs({ allowFailures: true })
    await app.advance(3_600_000)
  }
  expect(log.filter((line) => line !== 'tick')).toEqual(['it 1', 'it 2', 'it 3 last', 'it gave up: as told'])
})

test('a job whose worker dies at its last attempt is reported once, on any instance', async () => {
  log.length = 0
  heard.length = 0
  const { jobId } = await ctx.queue(lost.handle, { name: 'it' })
  // Like a worker that claims it and dies: no heartbeats any more.
  const die = async () => {
    await app.advance(3_600_000)
    const [claimed] = await app.services.queue.fetch('interactive', 1)
    expect(claimed?.id).toBe(jobId)
    await database.query(`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = $1`, [
      jobId,
    ])
    await app.services.queue.boss.supervise('interactive')
  }
  await die()
  await database.query(`update pgboss.queue set monitor_on = null, monitor_claim_on = null`, [])
  await die()
  const other = new Worker(app.services, registry.jobs, app.metrics)
  for (let round = 0; round < 3; round += 1) {
    await Promise.all([app.worker.drain(), other.drain()])
    await app.advance(3_600_000)
  }
  expect(log.filter((line) => line !== 'tick')).toEqual([`it of ${shop.id} gave up: job heartbeat timeout`])
  expect(seen.tellings).toBe(2)
  expect(heard).toEqual([`test-lost ${jobId} job heartbeat timeout`])
})

test('a scheduled job runs once each time it is due', async () => {
  log.length = 0
  await app.advance(3_600_000)
  await Promise.all([app.worker.schedule(), app.worker.schedule()])
  await app.drainJobs()
  expect(log).toEqual(['tick'])
  await app.drainJobs()
  expect(log).toEqual(['tick'])
})

test('a handle without a job is refused when it is queued', async () => {
  const ctx = await shop.context()
  await expect(ctx.queue(handle('test-nobody', object({})), {})).rejects.toThrow(
    'No job takes the handle test-nobody: write jobs/test-nobody.ts',
  )
})

test('an invalid payload is refused when it is queued', async () => {
  await expect(ctx.queue(keyed.handle, { name: 1 } as never)).rejects.toThrow()
})

test('the job of a deleted store ends quietly', async () => {
  const other = await store(app)
  await (await other.context()).queue(keyed.handle, { name: 'lost', key: 'c' })
  await database.query('delete from stores where id = $1', [other.id])
  log.length = 0
  await app.drainJobs()
  expect(log).toEqual([])
})
