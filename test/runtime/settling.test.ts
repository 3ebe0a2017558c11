/** What a run came to is one thing, the record of it another; and what is said of a run is of that run alone. */
import { afterEach, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import { job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import type { Queue } from '#runtime/jobs/queue'
import type { FetchedJob } from '#runtime/jobs/rows'
import { settle } from '#runtime/jobs/settling'
import { Worker, type WorkerTimes } from '#runtime/jobs/worker'
import { loadRegistry } from '#runtime/registry/registry'
import { object } from '#runtime/schema'
import { openMetrics } from '#runtime/server/metrics'
import { testApp, withWiring } from '#test/support/app'
import { store } from '#test/support/store'

const base = {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 60,
  safeTwice: 'It only does what the test says.',
}
/** What the handler of the moment does, and what the merchant hears. */
let act: (ctx: Context, signal: AbortSignal) => Promise<void> = async () => {}
let runs = 0
const heard: string[] = []
const acting = job(handle('test-acting', object({})), {
  ...base,
  async run(ctx, _payload, { signal }) {
    runs += 1
    await act(ctx, signal)
  },
})
const keyed = job(handle('test-of-a-key', object({})), {
  ...base,
  oneAtATimePer: () => 'key',
  run: (ctx, _payload, { signal }) => act(ctx, signal),
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
const told = withWiring(await loadRegistry(), {
  jobFailed: [async (_ctx, _name, _jobId, reason) => void heard.push(reason)],
})
const app = await testApp({}, { registry: { ...told, jobs } })
const shop = await store(app)
const ctx = await shop.context()
const { database } = app
const { queue } = app.services

const rowOf = async (id: string) =>
  (
    await database.query<{ state: string; tries: number }>(
      `select state::text, retry_count as tries from pgboss.job
       where (id = $1 or data->>'jobId' = $1::text) and name <> 'failed-jobs'`,
      [id],
    )
  )[0]!

/** Whose queue is another; counts what is observed. */
function workerOf(other: Partial<Queue> = {}, times: Partial<WorkerTimes> = {}) {
  const observed: string[] = []
  const metrics = {
    ...openMetrics(database, queue),
    observeJob: (name: string, outcome: string) => void observed.push(`${name} ${outcome}`),
  }
  const services = { ...app.services, queue: { ...queue, ...other } }
  const worker = new Worker(services, jobs, metrics, { againMs: 1, beatMs: 600_000, ...times })
  return { worker, observed }
}

/** The same, that does not reach the database at first. */
function awayFor<Args extends unknown[], T>(times: number, does: (...args: Args) => Promise<T>) {
  let left = times
  return async (...args: Args): Promise<T> => {
    left -= 1
    if (left >= 0) throw new Error('the database is away')
    return does(...args)
  }
}

/** Claimed once it may be. */
async function claimed(): Promise<FetchedJob> {
  for (;;) {
    const [run] = await queue.fetch('interactive', 1)
    if (run) return run
  }
}

const asks = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

afterEach(async () => {
  act = async () => {}
  runs = 0
  heard.length = 0
  await database.query('delete from pgboss.job', [])
})

test('what ran to its end has not failed, however long it takes to say so', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const { worker, observed } = workerOf({ complete: awayFor(3, queue.complete) })
  expect(await worker.drain()).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect([await rowOf(jobId), runs, heard]).toEqual([{ state: 'completed', tries: 0 }, 1, []])
  expect(observed).toEqual(['test-acting completed'])
})

test('what failed has failed once, and is told once', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  act = async () => {
    throw new Error('as told\0\ud800')
  }
  const { worker, observed } = workerOf({ fail: awayFor(3, queue.fail) })
  expect(await worker.drain()).toEqual({ ran: 1, failed: 1, pending: 0 }) // who tells of it ran
  expect([await rowOf(jobId), runs, heard]).toEqual([{ state: 'failed', tries: 0 }, 1, ['as told\ufffd']])
  expect(observed).toEqual(['test-acting failed', 'failed-jobs completed'])
})

test.each([
  ['what has no text', Object.create(null), '[Object: null prototype] {}'],
  ['an error without one', Object.assign(new Error('x'), { message: 7 }), '7'],
])('a handler that throws %s has failed like any other', async (_what, thrown, reason) => {
  await ctx.queue(acting.handle, {})
  act = () => Promise.reject(thrown)
  const { worker } = workerOf()
  expect(await worker.drain()).toEqual({ ran: 1, failed: 1, pending: 0 })
  expect(heard).toEqual([expect.stringContaining(reason)])
})

test('the merchant is told of a job that cannot tell of itself', async () => {
  await ctx.queue(mute.handle, {})
  const { worker } = workerOf()
  for (let tries = 0; tries < 6; tries += 1) {
    expect(heard).toEqual([])
    expect(await worker.drain()).toMatchObject({ ran: 0, pending: 0 })
    await queue.advance(3_600_000)
  }
  expect(heard).toEqual(['as told'])
})

test('what waits for a provider does so once that is recorded', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const run = await claimed()
  const { signal: over } = new AbortController()
  const away = { ...queue, putBack: awayFor(2, queue.putBack) }
  const means = { queue: away, log: app.services.log, over, againMs: 1 }
  await settle(means, run, { is: 'waiting', ms: 60_000 })
  expect(await rowOf(jobId)).toEqual({ state: 'created', tries: 0 })
  expect(await queue.fetch('interactive', 1)).toEqual([])
  await queue.bringForward(shop.id)
  expect(await queue.fetch('interactive', 1)).toMatchObject([{ jobId }])
})

test('of what is recorded late, signs of life are given until then', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  let isOver = false
  let touched = 0
  const { worker } = workerOf(
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
    { beatMs: 1 },
  )
  await worker.start()
  await expect.poll(async () => (await rowOf(jobId)).state).toBe('completed')
  await worker.stop()
  expect(runs).toBe(1)
})

test('who stops does not wait for the record for ever', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const asked = Promise.withResolvers<void>()
  const { worker, observed } = workerOf(
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
  expect([await rowOf(jobId), observed]).toEqual([{ state: 'active', tries: 0 }, ['test-acting completed']])
})

test('what could not begin is put back, and has lost no try', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  await ctx.queue(keyed.handle, {})
  const { worker, observed } = workerOf({ behindAnother: awayFor(3, queue.behindAnother) })
  expect(await worker.drain()).toEqual({ ran: 2, failed: 0, pending: 0 })
  expect([await rowOf(jobId), heard]).toEqual([{ state: 'completed', tries: 0 }, []])
  expect(observed.toSorted()).toEqual(['test-acting completed', 'test-of-a-key completed'])
})

test('a job of another version that cannot be put back at once keeps none from running that was claimed with it', async () => {
  const unknown = { storeId: shop.id, userId: null, requestId: 'test', payload: {}, job: 'test-of-tomorrow' }
  await queue.boss.insert('interactive', [{ data: unknown, singletonKey: 'x', group: { id: shop.id } }])
  const { jobId } = await ctx.queue(acting.handle, {})
  const { worker } = workerOf({ putBack: awayFor(1, queue.putBack) })
  expect(await worker.drain()).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect(await rowOf(jobId)).toEqual({ state: 'completed', tries: 0 })
  const waiting = await queue.boss.findJobs('interactive', { data: { job: 'test-of-tomorrow' } })
  expect(waiting).toMatchObject([{ state: 'created', retryCount: 0 }])
})

test('what can never begin fails, and is given up', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  await database.query(
    `update pgboss.job set data = jsonb_set(data, '{storeId}', '"no store"'), retry_count = retry_limit where id = $1`,
    [jobId],
  )
  const { worker } = workerOf()
  expect(await worker.drain()).toMatchObject({ ran: 0, pending: 0 })
  expect(await rowOf(jobId)).toMatchObject({ state: 'failed' })
})

test('a worker that lost its job leaves it to who has it', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  const goOn = Promise.withResolvers<void>()
  act = async (_ctx, signal) => {
    begun[runs - 1]!.resolve()
    await (runs === 1 ? asks(signal) : goOn.promise)
  }
  let looks = 0
  const { worker: first } = workerOf(
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
  // As pg-boss does for a worker of which nothing was heard.
  await database.query(`update pgboss.job set state = 'retry', start_after = started_on where id = $1`, [
    jobId,
  ])
  const { worker: second } = workerOf()
  const other = second.drain()
  await begun[1].promise
  await first.stop()
  await drained
  expect(await rowOf(jobId)).toEqual({ state: 'active', tries: 1 })
  goOn.resolve()
  expect(await other).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect([await rowOf(jobId), runs]).toEqual([{ state: 'completed', tries: 1 }, 2])
})

test('a job that is another worker’s now is asked to end', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  act = async (_ctx, signal) => {
    begun.resolve()
    await asks(signal).finally(ended.resolve)
  }
  const { worker } = workerOf({}, { beatMs: 10 })
  await worker.start()
  await begun.promise
  await database.query(`update pgboss.job set state = 'completed' where id = $1`, [jobId])
  await ended.promise
  await worker.stop()
})

test('a worker stops where what it hands back is never recorded', async () => {
  await ctx.queue(acting.handle, {})
  const begun = Promise.withResolvers<void>()
  act = async (_ctx, signal) => {
    begun.resolve()
    await asks(signal)
  }
  const { worker } = workerOf({ putBack: () => new Promise(() => {}) }, { finishMs: 20 })
  await worker.start()
  await begun.promise
  await worker.stop()
})

test('what was put back and claimed anew is another run: what is said of the first changes nothing', async () => {
  const { jobId } = await ctx.queue(keyed.handle, {})
  const before = await claimed()
  await queue.putBack(before, 0)
  const now = await claimed()
  expect(now).toMatchObject({ jobId, retryCount: before.retryCount })
  const stale: Record<string, () => Promise<unknown>> = {
    putBack: () => queue.putBack(before, 0),
    complete: () => queue.complete(before),
    fail: () => queue.fail(before, 'stale'),
  }
  for (const [what, says] of Object.entries(stale)) {
    await says()
    expect(await rowOf(jobId), what).toEqual({ state: 'active', tries: 0 })
  }
  expect(await queue.touch([before])).toEqual([before.id])
  expect(await queue.touch([now])).toEqual([])
  await queue.complete(now)
  expect(await rowOf(jobId)).toEqual({ state: 'completed', tries: 0 })
  expect(await queue.touch([now])).toEqual([now.id])
})

test('where another of its key waits, it stands for one that is put back, and is due as soon', async () => {
  await ctx.queue(keyed.handle, {})
  const run = await claimed()
  const other = await ctx.queue(keyed.handle, {}, { afterSeconds: 600 })
  await queue.putBack(run, 0)
  expect(await claimed()).toMatchObject({ jobId: other.jobId })
  expect(await queue.fetch('interactive', 1)).toEqual([])
})

test('tries that were used are used, and those of a job that was put back are not more', async () => {
  await ctx.queue(acting.handle, {})
  const run = await claimed()
  await queue.putBack({ ...run, retryLimit: 5, retryCount: run.retryCount }, 0)
  expect(await claimed()).toMatchObject({ retryLimit: 5, retryCount: 0 })
})

test('what is said of a run twice counts once', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const run = await claimed()
  await queue.fail(run, 'once')
  await queue.fail(run, 'twice')
  expect(await rowOf(jobId)).toEqual({ state: 'failed', tries: 0 })
  const given = await queue.fetch('failed-jobs', 5)
  expect(given).toMatchObject([{ jobId, name: 'test-acting', reason: 'once' }])
  // Put back, it is still known which job it was, and why.
  await queue.putBack(given[0]!, 0)
  expect(await queue.fetch('failed-jobs', 5)).toMatchObject([{ jobId, name: 'test-acting', reason: 'once' }])
})

test('what a worker that stops has claimed late does not begin', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const asked = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const handedBack = Promise.withResolvers<void>()
  const { worker } = workerOf(
    {
      async fetch(...of) {
        const fetched = await queue.fetch(...of)
        if (fetched.length === 0) return []
        asked.resolve()
        await goOn.promise
        return fetched
      },
      async putBack(...run) {
        await queue.putBack(...run)
        handedBack.resolve()
      },
    },
    { finishMs: 20 },
  )
  await worker.start()
  await asked.promise
  await worker.stop()
  expect(await rowOf(jobId)).toEqual({ state: 'active', tries: 0 })
  goOn.resolve()
  await handedBack.promise
  expect([await rowOf(jobId), runs]).toEqual([{ state: 'created', tries: 0 }, 0])
  await app.drainJobs()
  expect([await rowOf(jobId), runs]).toEqual([{ state: 'completed', tries: 0 }, 1])
})
