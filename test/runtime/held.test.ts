/** A job that was taken from its worker does nothing more, whatever its handler hears or not. */
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

/** What the handler of the moment does. */
let act: (ctx: Context, attempt: JobAttempt) => Promise<void> = async () => {}
let given: string[] = []
const deaf = job(handle('test-deaf', object({ name: z.string() })), {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 1,
  safeTwice: 'It only does what the test says.',
  run: (ctx, _payload, attempt) => act(ctx, attempt),
  async failed(_ctx, _payload, reason) {
    given.push(reason)
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
const app = await testApp({}, { registry: { ...(await loadRegistry()), jobs: [deaf] }, log: log as never })
const shop = await store(app)
const ctx = await shop.context()
const workerOf = (times: Partial<WorkerTimes>) => new Worker(app.services, [deaf], app.metrics, times)
const stateOf = async (id: string): Promise<string> =>
  (
    await app.database.query<{ state: string }>(
      `select state::text from pgboss.job where id = $1 or data->>'jobId' = $1::text`,
      [id],
    )
  )[0]!.state

afterEach(() => {
  act = async () => {}
  given = []
  lines.length = 0
})

const rename = (held: Context, name: string) => held.db.updateTable('stores').set({ name }).execute()
const nameNow = async (): Promise<string> =>
  (await app.database.query<{ name: string }>('select name from stores where id = $1', [shop.id]))[0]!.name

/** All that a handler can do to the world, each with what is to be said of it. */
const deeds: [what: string, does: (held: Context) => Promise<unknown>][] = [
  ['a statement', (held) => rename(held, 'written')],
  ['a transaction', (held) => held.transaction((tx) => rename(tx, 'written'))],
  ['a text', (held) => held.run('select 1 as one', [])],
  ['a statement of the server', (held) => sql`select 1`.execute(held.system)],
  ['a job', (held) => held.queue(deaf.handle, { name: 'next' })],
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
  ['a patient statement', (held) => held.services.database.patient.query('select 1', [])],
]

/** A handler that stands still inside an open transaction until it is let go, then tries all there is. */
function standing() {
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<Record<string, string>>()
  act = async (held) => {
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
    for (const [what, does] of deeds) await noted(what, () => does(held))
    held.log.error('it went wrong')
    ended.resolve(outcomes)
    throw new Error('it went wrong')
  }
  return { begun: begun.promise, goOn: () => gate.resolve(), ended: ended.promise }
}

const allRefused = (reason: string) =>
  Object.fromEntries(['the transaction', ...deeds.map(([what]) => what)].map((what) => [what, reason]))

// On PGlite a transaction that stands still holds up everybody: it is let go before anything else is asked.
test('when its time is over: it fails once, and nothing it does later is done', async () => {
  const before = await nameNow()
  const { jobId } = await ctx.queue(deaf.handle, { name: 'it' })
  const worker = workerOf({ jobGraceMs: 20 })
  const handler = standing()
  const drained = worker.drain()
  await handler.begun
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  handler.goOn()
  expect(await handler.ended).toEqual(allRefused('took longer than 1 seconds'))
  expect(await drained).toEqual({ ran: 1, failed: 1, pending: 0 })
  expect([await stateOf(jobId), await nameNow(), given]).toEqual([
    'failed',
    before,
    ['took longer than 1 seconds'],
  ])
  expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual(['job failed'])
})

test('when its worker stops: it is handed back, and nothing is told as a fault', async () => {
  const before = await nameNow()
  const { jobId } = await ctx.queue(deaf.handle, { name: 'it' })
  const worker = workerOf({ finishMs: 20 })
  const handler = standing()
  await worker.start()
  await handler.begun
  const stopped = worker.stop()
  await new Promise((resolve) => setTimeout(resolve, 50))
  handler.goOn()
  expect(await handler.ended).toEqual(allRefused('the worker is stopping'))
  await stopped
  expect([await stateOf(jobId), await nameNow()]).toEqual(['created', before])
  expect(lines.filter(({ level }) => level >= 40)).toEqual([])
  act = async (held) => void (await rename(held, before))
  await app.drainJobs()
  expect(await stateOf(jobId)).toBe('completed')
})

test('when nothing was heard of it for too long: who has it now goes on with it', async () => {
  const { jobId } = await ctx.queue(deaf.handle, { name: 'it' })
  const worker = workerOf({ beatMs: 10 })
  const begun = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<string>()
  act = async (held) => {
    begun.resolve()
    // Asks again and again, as work does.
    for (let asked = 0; asked < 500; asked += 1) {
      try {
        await held.run('select 1 as one', [])
      } catch (error) {
        refused.resolve((error as Error).message)
        throw error
      }
      await pause(2, new AbortController().signal)
    }
  }
  await worker.start()
  await begun.promise
  // As pg-boss does for a worker that is gone, and another worker takes it up.
  await app.database.query(
    `update pgboss.job set retry_count = retry_count + 1, started_on = started_on where id = $1`,
    [jobId],
  )
  expect(await refused.promise).toBe('the job was given to another worker')
  await worker.stop()
  expect(await stateOf(jobId)).toBe('active')
  expect(lines.filter(({ level }) => level >= 40).map(({ level }) => level)).toEqual([40])
  await app.database.query(`update pgboss.job set state = 'retry', start_after = started_on where id = $1`, [
    jobId,
  ])
  act = async () => {}
  await app.drainJobs()
})

test('asked to end, it still puts away what it holds, and what it queues counts', async () => {
  const worker = workerOf({ finishMs: 5_000 })
  const begun = Promise.withResolvers<void>()
  const before = await nameNow()
  act = async (held, { signal }) => {
    begun.resolve()
    expect(await pause(60_000, held.services.ending)).toBe(false)
    expect(signal.aborted).toBe(true)
    await rename(held, 'put away')
  }
  const { jobId } = await ctx.queue(deaf.handle, { name: 'it' })
  await worker.start()
  await begun.promise
  await worker.stop()
  expect([await stateOf(jobId), await nameNow()]).toEqual(['completed', 'put away'])
  await rename(ctx, before)
})

test('a job whose store cannot be read for a while has lost no try by it, and ends nobody', async () => {
  const { jobId } = await ctx.queue(deaf.handle, { name: 'it' })
  let left = 2
  const database = {
    ...app.database,
    patient: app.database.patient.whileHeld({
      throwIfAborted() {
        left -= 1
        if (left >= 0) throw new Error('the database is away')
      },
    }),
  }
  const worker = new Worker({ ...app.services, database }, [deaf], app.metrics)
  expect(await worker.drain()).toEqual({ ran: 1, failed: 0, pending: 0 })
  expect([await stateOf(jobId), given]).toEqual(['completed', []])
  expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
    'it could not begin, and is put back',
    'it could not begin, and is put back',
  ])
})
