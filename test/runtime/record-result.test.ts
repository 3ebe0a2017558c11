/** The result of a run and its recording are separate; records apply to one run only. */
import { afterEach, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import { job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import type { Queue } from '#runtime/jobs/queue'
import { recordResult } from '#runtime/jobs/record-result'
import type { FetchedJob } from '#runtime/jobs/rows'
import { Worker, type WorkerTimes } from '#runtime/jobs/worker'
import { Unavailable } from '#runtime/ports/errors'
import { loadRegistry } from '#runtime/registry/registry'
import { object } from '#runtime/schema'
import { openMetrics } from '#runtime/server/metrics'
import { overrideExtensions, testApp } from '#test/support/app'
import { store } from '#test/support/store'

const base = {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 60,
  safeTwice: 'It only does what the test says.',
}
/** The current action of the handler, and the merchant's notifications. */
let action: (ctx: Context, signal: AbortSignal) => Promise<void> = async () => {}
let runs = 0
const notifications: string[] = []
const acting = job(handle('test-acting', object({})), {
  ...base,
  async run(ctx, _payload, { signal }) {
    runs += 1
    await action(ctx, signal)
  },
})
const keyed = job(handle('test-of-a-key', object({})), {
  ...base,
  oneAtATimePer: () => 'key',
  run: (ctx, _payload, { signal }) => action(ctx, signal),
})
const mute = job(handle('test-mute', object({})), {
  ...base,
  async run() {
    throw new Error('as told')
  },
  async failed() {
    throw new TypeError('its payload is of an earlier version')
  },
})
const jobs = [acting, keyed, mute]
const registryWithNotifications = overrideExtensions(await loadRegistry(), {
  jobFailed: [async (_ctx, _name, _jobId, reason) => void notifications.push(reason)],
})
const app = await testApp({}, { registry: { ...registryWithNotifications, jobs } })
const shop = await store(app)
const ctx = await shop.context()
const { database } = app
const { queue } = app.services

const readRow = async (id: string) =>
  (
    await database.query<{ state: string; tries: number }>(
      `select state::text, retry_count as tries from pgboss.job
       where (id = $1 or data->>'jobId' = $1::text) and name <> 'failed-jobs'`,
      [id],
    )
  )[0]!

/** A worker with another queue; counts observations. */
function createWorker(other: Partial<Queue> = {}, times: Partial<WorkerTimes> = {}) {
  const observed: string[] = []
  const metrics = {
    ...openMetrics(database, queue),
    observeJob: (name: string, outcome: string) => void observed.push(`${name} ${outcome}`),
  }
  const services = { ...app.services, queue: { ...queue, ...other } }
  const worker = new Worker(services, jobs, metrics, { retryMs: 1, heartbeatMs: 600_000, ...times })
  return { worker, observed }
}

/** Fails the given number of times, like an unreachable database. */
function failTimes<Args extends unknown[], T>(times: number, does: (...args: Args) => Promise<T>) {
  let left = times
  return async (...args: Args): Promise<T> => {
    left -= 1
    if (left >= 0) throw new Error('the database is away')
    return does(...args)
  }
}

/** Claims it once it may be. */
async function claimOne(): Promise<FetchedJob> {
  for (;;) {
    const [run] = await queue.fetch('interactive', 1)
    if (run) return run
  }
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

afterEach(async () => {
  action = async () => {}
  runs = 0
  notifications.length = 0
  await database.query('delete from pgboss.job', [])
})

test('a completed run has not failed, however long its recording takes', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const { worker, observed } = createWorker({ complete: failTimes(3, queue.complete) })
  expect(await worker.drain()).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect([await readRow(jobId), runs, notifications]).toEqual([{ state: 'completed', tries: 0 }, 1, []])
  expect(observed).toEqual(['test-acting completed'])
})

test('a failed run fails once, and is reported once', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  action = async () => {
    throw new Error('as told\0\ud800')
  }
  const { worker, observed } = createWorker({ fail: failTimes(3, queue.fail) })
  expect(await worker.drain()).toEqual({ ran: 1, failed: 1, pending: 0 }) // the one that reports it ran
  expect([await readRow(jobId), runs, notifications]).toEqual([
    { state: 'failed', tries: 0 },
    1,
    ['as told\ufffd'],
  ])
  expect(observed).toEqual(['test-acting failed', 'failed-jobs completed'])
})

test.each([
  ['what has no text', Object.create(null), '[Object: null prototype] {}'],
  ['an error without one', Object.assign(new Error('x'), { message: 7 }), '7'],
])('a handler that throws %s has failed like any other', async (_what, thrown, reason) => {
  await ctx.queue(acting.handle, {})
  action = () => Promise.reject(thrown)
  const { worker } = createWorker()
  expect(await worker.drain()).toEqual({ ran: 1, failed: 1, pending: 0 })
  expect(notifications).toEqual([expect.stringContaining(reason)])
})

test('the merchant is notified of a job that does not report its own failure', async () => {
  await ctx.queue(mute.handle, {})
  const { worker } = createWorker()
  for (let tries = 0; tries < 6; tries += 1) {
    expect(notifications).toEqual([])
    expect(await worker.drain()).toMatchObject({ ran: 0, pending: 0 })
    await queue.advance(3_600_000)
  }
  expect(notifications).toEqual(['as told'])
})

test('a job that waits for a provider does so once that is recorded', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const run = await claimOne()
  const { signal: over } = new AbortController()
  const away = { ...queue, requeue: failTimes(2, queue.requeue) }
  const means = { queue: away, log: app.services.log, over, againMs: 1 }
  await recordResult(means, run, { kind: 'waiting', ms: 60_000, error: new Unavailable('no') })
  expect(await readRow(jobId)).toEqual({ state: 'created', tries: 0 })
  expect(await queue.fetch('interactive', 1)).toEqual([])
  await queue.resumeWaiting(shop.id)
  expect(await queue.fetch('interactive', 1)).toMatchObject([{ jobId }])
})

test('heartbeats continue while a result is recorded late', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  let isOver = false
  let touched = 0
  const { worker } = createWorker(
    {
      async touch(mine) {
        const lost = await queue.touch(mine)
        if (isOver && lost.length === 0) touched += 1
        return lost
      },
      async complete(run) {
        isOver = true
        if (touched < 3) throw new Error('the database is away')
        await queue.complete(run)
      },
    },
    { heartbeatMs: 1 },
  )
  await worker.start()
  await expect.poll(async () => (await readRow(jobId)).state).toBe('completed')
  await worker.stop()
  expect(runs).toBe(1)
})

test('a stopping worker does not wait forever for the record', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const asked = Promise.withResolvers<void>()
  const { worker, observed } = createWorker(
    {
      async complete() {
        asked.resolve()
        throw new Error('the database is away')
      },
    },
    { finishMs: 20 },
  )
  const drained = worker.drain()
  await asked.promise
  await worker.stop()
  expect(await drained).toEqual({ ran: 1, failed: 0, pending: 1 })
  expect([await readRow(jobId), observed]).toEqual([{ state: 'active', tries: 0 }, ['test-acting completed']])
})

test('a job that could not start is requeued, and loses no attempt', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  await ctx.queue(keyed.handle, {})
  const { worker, observed } = createWorker({ findBlocked: failTimes(3, queue.findBlocked) })
  expect(await worker.drain()).toEqual({ ran: 2, failed: 0, pending: 0 })
  expect([await readRow(jobId), notifications]).toEqual([{ state: 'completed', tries: 0 }, []])
  expect(observed.toSorted()).toEqual(['test-acting completed', 'test-of-a-key completed'])
})

test('a job of another version that cannot be requeued at once does not stop those claimed with it', async () => {
  const unknown = { storeId: shop.id, userId: null, requestId: 'test', payload: {}, job: 'test-of-tomorrow' }
  await queue.boss.insert('interactive', [{ data: unknown, singletonKey: 'x', group: { id: shop.id } }])
  const { jobId } = await ctx.queue(acting.handle, {})
  const { worker } = createWorker({ requeue: failTimes(1, queue.requeue) })
  expect(await worker.drain()).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect(await readRow(jobId)).toEqual({ state: 'completed', tries: 0 })
  const waiting = await queue.boss.findJobs('interactive', { data: { job: 'test-of-tomorrow' } })
  expect(waiting).toMatchObject([{ state: 'created', retryCount: 0 }])
})

test('a job that can never start fails, and becomes a dead letter', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  await database.query(
    `update pgboss.job set data = jsonb_set(data, '{storeId}', '"no store"'), retry_count = retry_limit where id = $1`,
    [jobId],
  )
  const { worker } = createWorker()
  expect(await worker.drain()).toMatchObject({ ran: 0, pending: 0 })
  expect(await readRow(jobId)).toMatchObject({ state: 'failed' })
})

test('a worker that lost its lease leaves the job to the new worker', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const goOn = Promise.withResolvers<void>()
  action = async (_ctx, signal) => {
    begun[runs - 1]!.resolve()
    await (runs === 1 ? untilAborted(signal) : goOn.promise)
  }
  let looks = 0
  const { worker: first } = createWorker(
    {
      async fetch(...asked) {
        if (asked[0] === 'interactive') looks += 1
        return looks <= 1 ? queue.fetch(...asked) : []
      },
    },
    { finishMs: 20 },
  )
  const drained = first.drain()
  await begun[0].promise
  // As pg-boss does for a worker without heartbeats.
  await database.query(`update pgboss.job set state = 'retry', start_after = started_on where id = $1`, [
    jobId,
  ])
  const { worker: second } = createWorker()
  const other = second.drain()
  await begun[1].promise
  await first.stop()
  await drained
  expect(await readRow(jobId)).toEqual({ state: 'active', tries: 1 })
  goOn.resolve()
  expect(await other).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect([await readRow(jobId), runs]).toEqual([{ state: 'completed', tries: 1 }, 2])
})

test('a job that another worker owns now is asked to stop', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  action = async (_ctx, signal) => {
    begun.resolve()
    await untilAborted(signal).finally(ended.resolve)
  }
  const { worker } = createWorker({}, { heartbeatMs: 10 })
  await worker.start()
  await begun.promise
  await database.query(`update pgboss.job set state = 'completed' where id = $1`, [jobId])
  await ended.promise
  await worker.stop()
})

test('a worker stops even if its requeues are never recorded', async () => {
  await ctx.queue(acting.handle, {})
  const begun = Promise.withResolvers<void>()
  action = async (_ctx, signal) => {
    begun.resolve()
    await untilAborted(signal)
  }
  const { worker } = createWorker({ requeue: () => new Promise(() => {}) }, { finishMs: 20 })
  await worker.start()
  await begun.promise
  await worker.stop()
})

test('a requeued and reclaimed job is another run: results of the first change nothing', async () => {
  const { jobId } = await ctx.queue(keyed.handle, {})
  const before = await claimOne()
  await queue.requeue(before, 0)
  const now = await claimOne()
  expect(now).toMatchObject({ jobId, retryCount: before.retryCount })
  const stale: Record<string, () => Promise<unknown>> = {
    requeue: () => queue.requeue(before, 0),
    complete: () => queue.complete(before),
    fail: () => queue.fail(before, 'stale'),
  }
  for (const [what, says] of Object.entries(stale)) {
    await says()
    expect(await readRow(jobId), what).toEqual({ state: 'active', tries: 0 })
  }
  expect(await queue.touch([before])).toEqual([before.id])
  expect(await queue.touch([now])).toEqual([])
  await queue.complete(now)
  expect(await readRow(jobId)).toEqual({ state: 'completed', tries: 0 })
  expect(await queue.touch([now])).toEqual([now.id])
})

test('if another job of its key waits, it replaces a requeued one, and is due as soon', async () => {
  await ctx.queue(keyed.handle, {})
  const run = await claimOne()
  const other = await ctx.queue(keyed.handle, {}, { afterSeconds: 600 })
  await queue.requeue(run, 0)
  expect(await claimOne()).toMatchObject({ jobId: other.jobId })
  expect(await queue.fetch('interactive', 1)).toEqual([])
})

test('used attempts count, and a requeue adds none', async () => {
  await ctx.queue(acting.handle, {})
  const run = await claimOne()
  await queue.requeue({ ...run, retryLimit: 5, retryCount: run.retryCount }, 0)
  expect(await claimOne()).toMatchObject({ retryLimit: 5, retryCount: 0 })
})

test('the result of a run counts once', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const run = await claimOne()
  await queue.fail(run, 'once')
  await queue.fail(run, 'twice')
  expect(await readRow(jobId)).toEqual({ state: 'failed', tries: 0 })
  const given = await queue.fetch('failed-jobs', 5)
  expect(given).toMatchObject([{ jobId, name: 'test-acting', reason: 'once' }])
  // After a requeue it is still known which job it was, and why.
  await queue.requeue(given[0]!, 0)
  expect(await queue.fetch('failed-jobs', 5)).toMatchObject([{ jobId, name: 'test-acting', reason: 'once' }])
})

test('jobs that a stopping worker claimed late do not start', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const asked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const handedBack = Promise.withResolvers<void>()
  const { worker } = createWorker(
    {
      async fetch(...of) {
        const fetched = await queue.fetch(...of)
        if (fetched.length === 0) return []
        asked.resolve()
        await goOn.promise
        return fetched
      },
      async requeue(...run) {
        await queue.requeue(...run)
        handedBack.resolve()
      },
    },
    { finishMs: 20 },
  )
  await worker.start()
  await asked.promise
  await worker.stop()
  expect(await readRow(jobId)).toEqual({ state: 'active', tries: 0 })
  goOn.resolve()
  await handedBack.promise
  expect([await readRow(jobId), runs]).toEqual([{ state: 'created', tries: 0 }, 0])
  await app.drainJobs()
  expect([await readRow(jobId), runs]).toEqual([{ state: 'completed', tries: 0 }, 1])
})
