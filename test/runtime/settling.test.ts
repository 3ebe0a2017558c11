/** What a run came to is one thing, the record of it another; and what is said of a run is of that run alone. */
import { afterEach, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import { job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import type { FetchedJob, Queue } from '#runtime/jobs/queue'
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
  concurrency: 1,
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
const jobs = [acting, keyed]
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
      'select state::text, retry_count as tries from pgboss.job where id = $1',
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
async function claimed(name: string): Promise<FetchedJob> {
  for (;;) {
    const [run] = await queue.fetch([{ name, atMost: 1 }], 1, 'any')
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

test('what waits for a provider does so once that is recorded', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const run = await claimed('test-acting')
  const { signal: over } = new AbortController()
  const away = { ...queue, waitForProvider: awayFor(2, queue.waitForProvider) }
  const means = { queue: away, log: app.services.log, over, againMs: 1 }
  await settle(means, 'test-acting', run, { is: 'waiting', ms: 60_000 })
  expect(await rowOf(jobId)).toEqual({ state: 'retry', tries: 0 })
})

test('of what is recorded late, signs of life are given until then', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  let isOver = false
  let touched = 0
  const { worker } = workerOf(
    {
      async touch(name, run) {
        const isOurs = await queue.touch(name, run)
        if (isOver && isOurs) touched += 1
        return isOurs
      },
      async complete(name, run) {
        isOver = true
        if (touched < 3) throw new Error('the database is away')
        await queue.complete(name, run)
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
  const { worker, observed } = workerOf({
    fetch: async (...asked) => (await queue.fetch(...asked)).map((each) => ({ ...each, mayBeBehind: true })),
    behindAnother: awayFor(3, queue.behindAnother),
  })
  expect(await worker.drain()).toEqual({ ran: 2, failed: 0, pending: 0 })
  expect([await rowOf(jobId), heard]).toEqual([{ state: 'completed', tries: 0 }, []])
  expect(observed.toSorted()).toEqual(['test-acting completed', 'test-of-a-key completed'])
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
  const { worker: first } = workerOf({}, { finishMs: 20 })
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

test('what was put back and claimed anew is another run, though its tries are the same', async () => {
  const { jobId } = await ctx.queue(keyed.handle, {})
  const before = await claimed('test-of-a-key')
  await queue.handBack('test-of-a-key', before)
  const now = await claimed('test-of-a-key')
  expect(now).toMatchObject({ id: before.id, retryCount: before.retryCount })
  const stale: Record<string, (run: FetchedJob) => Promise<unknown>> = {
    handBack: (run) => queue.handBack('test-of-a-key', run),
    postpone: (run) => queue.postpone('test-of-a-key', run, 1),
    waitForProvider: (run) => queue.waitForProvider('test-of-a-key', run, 1),
    complete: (run) => queue.complete('test-of-a-key', run),
    fail: (run) => queue.fail('test-of-a-key', run, 'stale'),
  }
  for (const [what, says] of Object.entries(stale)) {
    await says(before)
    expect(await rowOf(jobId), what).toEqual({ state: 'active', tries: 0 })
  }
  // Another of its key waits: it would stand for that one.
  await ctx.queue(keyed.handle, {})
  await stale.waitForProvider!(before)
  expect(await rowOf(jobId)).toEqual({ state: 'active', tries: 0 })
  expect(await queue.touch('test-of-a-key', before)).toBe(false)
  expect(await queue.touch('test-of-a-key', now)).toBe(true)
  await queue.complete('test-of-a-key', now)
  expect(await rowOf(jobId)).toEqual({ state: 'completed', tries: 0 })
  expect(await queue.touch('test-of-a-key', now)).toBe(false)
})

test('a claim is later than the one that was put back, on a clock that stands still too', async () => {
  await ctx.queue(acting.handle, {})
  const run = await claimed('test-acting')
  await database.query(`update pgboss.job set started_on = started_on + interval '1 hour' where id = $1`, [
    run.id,
  ])
  const [ahead] = await database.query<{ begunAt: string }>(
    `select extract(epoch from started_on)::text as "begunAt" from pgboss.job where id = $1`,
    [run.id],
  )
  await queue.handBack('test-acting', { ...run, ...ahead! })
  const [row] = await database.query(
    `select extract(epoch from start_after) > $2::text::numeric as "isLater" from pgboss.job where id = $1`,
    [run.id, ahead!.begunAt],
  )
  expect(row).toEqual({ isLater: true })
})

test('what is said of a run twice counts once', async () => {
  const { jobId } = await ctx.queue(acting.handle, {})
  const run = await claimed('test-acting')
  await queue.fail('test-acting', run, 'once')
  await queue.fail('test-acting', run, 'twice')
  expect(await rowOf(jobId)).toEqual({ state: 'failed', tries: 0 })
  expect(await queue.fetch([{ name: 'failed-jobs', atMost: 5 }], 5, 'any')).toMatchObject([
    { sourceOutput: { message: 'once' } },
  ])
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
        asked.resolve()
        await goOn.promise
        return fetched
      },
      async handBack(...run) {
        await queue.handBack(...run)
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
  expect([await rowOf(jobId), runs]).toEqual([{ state: 'retry', tries: 0 }, 0])
  await app.drainJobs()
  expect([await rowOf(jobId), runs]).toEqual([{ state: 'completed', tries: 0 }, 1])
})
