/** A job that lost its lease does nothing more, whether its handler notices or not. */
import { Writable } from 'node:stream'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, expect, test } from 'vitest'
import type { Context } from '#runtime/context'
import { type JobAttempt, job } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { Worker, type WorkerTimes } from '#runtime/jobs/worker'
import { pause } from '#runtime/pause'
import { loadRegistry } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { testApp } from '#test/support/app'
import { store } from '#test/support/store'

/** The current action of the handler. */
let action: (ctx: Context, attempt: JobAttempt) => Promise<void> = async () => {}
let reportedFailures: string[] = []
const ignoringJob = job(handle('test-deaf', object({ name: z.string() })), {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 1,
  safeTwice: 'It only does what the test says.',
  run: (ctx, _payload, attempt) => action(ctx, attempt),
  async failed(_ctx, _payload, reason) {
    reportedFailures.push(reason)
  },
})

const lines: { level: number; msg: string }[] = []
const log = pino(
  { base: undefined, timestamp: false },
  new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)))
      done()
    },
  }),
)
const app = await testApp(
  {},
  { registry: { ...(await loadRegistry()), jobs: [ignoringJob] }, log: log as never },
)
const shop = await store(app)
const ctx = await shop.context()
const startWorker = (times: Partial<WorkerTimes>) =>
  new Worker(app.services, [ignoringJob], app.metrics, times)
const readState = async (id: string): Promise<string> =>
  (
    await app.database.query<{ state: string }>(
      `select state::text from pgboss.job where id = $1 or data->>'jobId' = $1::text`,
      [id],
    )
  )[0]!.state

afterEach(() => {
  action = async () => {}
  reportedFailures = []
  lines.length = 0
})

const rename = (held: Context, name: string) => held.db.updateTable('stores').set({ name }).execute()
const readName = async (): Promise<string> =>
  (await app.database.query<{ name: string }>('select name from stores where id = $1', [shop.id]))[0]!.name

/** Every effect that a handler can have, each with its expected result. */
const actions: [what: string, does: (held: Context) => Promise<unknown>][] = [
  ['a statement', (held) => rename(held, 'written')],
  ['a transaction', (held) => held.transaction((tx) => rename(tx, 'written'))],
  ['a text', (held) => held.runPrepared('select 1 as one', [])],
  ['a statement of the server', (held) => sql`select 1`.execute(held.system)],
  ['a job', (held) => held.queue(ignoringJob.handle, { name: 'next' })],
  [
    'a provider',
    (held) =>
      held.adapters.mail.send({
        to: 'a@example.com',
        subject: 's',
        text: 't',
        html: null,
        idempotencyKey: 'k',
      } as never),
  ],
  ['a script', (held) => held.services.database.script('select 1')],
  ['a long-running statement', (held) => held.services.database.longRunning.query('select 1', [])],
]

/** A handler that blocks inside an open transaction until it is released, then tries every effect. */
function blockingHandler() {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Record<string, string>>()
  action = async (held) => {
    const outcomes: Record<string, string> = {}
    const noted = async (what: string, does: () => Promise<unknown>): Promise<void> => {
      try {
        await does()
        outcomes[what] = 'done'
      } catch (error) {
        outcomes[what] = (error as Error).message
      }
    }
    await noted('the transaction', () =>
      held.transaction(async (tx) => {
        await rename(tx, 'half written')
        begun.resolve()
        await gate.promise
      }),
    )
    for (const [what, does] of actions) await noted(what, () => does(held))
    held.log.error('it went wrong')
    ended.resolve(outcomes)
    throw new Error('it went wrong')
  }
  return { begun: begun.promise, goOn: () => gate.resolve(), ended: ended.promise }
}

const expectAllRefused = (reason: string) =>
  Object.fromEntries(['the transaction', ...actions.map(([what]) => what)].map((what) => [what, reason]))

// On PGlite a blocked transaction blocks everybody: it is released before anything else runs.
test('after its timeout a job fails once, and its later effects are refused', async () => {
  const before = await readName()
  const { jobId } = await ctx.queue(ignoringJob.handle, { name: 'it' })
  const worker = startWorker({ jobGraceMs: 20 })
  const handler = blockingHandler()
  const drained = worker.drain()
  await handler.begun
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  handler.goOn()
  expect(await handler.ended).toEqual(expectAllRefused('took longer than 1 seconds'))
  expect(await drained).toEqual({ ran: 1, failed: 1, pending: 0 })
  expect([await readState(jobId), await readName(), reportedFailures]).toEqual([
    'failed',
    before,
    ['took longer than 1 seconds'],
  ])
  expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual(['job failed'])
})

test('when its worker stops a job is requeued, and no failure is reported', async () => {
  const before = await readName()
  const { jobId } = await ctx.queue(ignoringJob.handle, { name: 'it' })
  const worker = startWorker({ finishMs: 20 })
  const handler = blockingHandler()
  await worker.start()
  await handler.begun
  const stopped = worker.stop()
  await new Promise((resolve) => setTimeout(resolve, 50))
  handler.goOn()
  expect(await handler.ended).toEqual(expectAllRefused('the worker is stopping'))
  await stopped
  expect([await readState(jobId), await readName()]).toEqual(['created', before])
  expect(lines.filter(({ level }) => level >= 40)).toEqual([])
  action = async (held) => void (await rename(held, before))
  await app.drainJobs()
  expect(await readState(jobId)).toBe('completed')
})

test('after a missing heartbeat the new worker continues the job', async () => {
  const { jobId } = await ctx.queue(ignoringJob.handle, { name: 'it' })
  const worker = startWorker({ heartbeatMs: 10 })
  const begun = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<string>()
  action = async (held) => {
    begun.resolve()
    // Queries repeatedly, as real work does.
    for (let asked = 0; asked < 500; asked += 1) {
      try {
        await held.runPrepared('select 1 as one', [])
      } catch (error) {
        refused.resolve((error as Error).message)
        throw error
      }
      await pause(2, new AbortController().signal)
    }
  }
  await worker.start()
  await begun.promise
  // As pg-boss does for a dead worker, and another worker claims it.
  await app.database.query(
    `update pgboss.job set retry_count = retry_count + 1, started_on = started_on where id = $1`,
    [jobId],
  )
  expect(await refused.promise).toBe('the job was given to another worker')
  await worker.stop()
  expect(await readState(jobId)).toBe('active')
  expect(lines.filter(({ level }) => level >= 40).map(({ level }) => level)).toEqual([40])
  await app.database.query(`update pgboss.job set state = 'retry', start_after = started_on where id = $1`, [
    jobId,
  ])
  action = async () => {}
  await app.drainJobs()
})

test('a stopping job can still clean up, and the jobs that it queues count', async () => {
  const worker = startWorker({ finishMs: 5_000 })
  const begun = Promise.withResolvers<void>()
  const before = await readName()
  action = async (held, { signal }) => {
    begun.resolve()
    expect(await pause(60_000, held.services.abortSignal)).toBe(false)
    expect(signal.aborted).toBe(true)
    await rename(held, 'put away')
  }
  const { jobId } = await ctx.queue(ignoringJob.handle, { name: 'it' })
  await worker.start()
  await begun.promise
  await worker.stop()
  expect([await readState(jobId), await readName()]).toEqual(['completed', 'put away'])
  await rename(ctx, before)
})

test('a job whose store cannot be read for a while loses no attempt, and ends nobody', async () => {
  const { jobId } = await ctx.queue(ignoringJob.handle, { name: 'it' })
  let left = 2
  const database = {
    ...app.database,
    longRunning: app.database.longRunning.cancellable({
      throwIfAborted() {
        left -= 1
        if (left >= 0) throw new Error('the database is away')
      },
    }),
  }
  const worker = new Worker({ ...app.services, database }, [ignoringJob], app.metrics)
  expect(await worker.drain()).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect([await readState(jobId), reportedFailures]).toEqual(['completed', []])
  expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
    'job could not start, requeued',
    'job could not start, requeued',
  ])
})
