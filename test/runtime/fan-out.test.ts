/** Scheduled jobs per store (`every`). */
import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { SystemContext } from '#runtime/context'
import { job } from '#runtime/job'
import { fanOut } from '#runtime/jobs/fan-out'
import { handle } from '#runtime/jobs/handle'
import type { Queue } from '#runtime/jobs/queue'
import { Worker } from '#runtime/jobs/worker'
import { loadRegistry } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { freshDatabase, testApp } from '#test/support/app'
import { store } from '#test/support/store'
import { isFullSuite } from '#test/support/suite'

const runs: string[] = []
let dueRows: { store_id: string; what: string }[] = []
let failingStore: string | null = null

const each = job(handle('test-each', object({ what: z.string() })), {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 60,
  safeTwice: 'It only writes to a list.',
  oneAtATimePer: ({ what }) => what,
  every: {
    seconds: 600,
    stores: () => sql<{ store_id: string; what: string }>`
      select * from jsonb_to_recordset(${JSON.stringify(dueRows)}::jsonb) as g(store_id uuid, what text)`,
    payload({ store_id, what }) {
      if (store_id === failingStore) throw new Error('not this one')
      return what === 'nothing' ? null : { what }
    },
  },
  async run(ctx, { what }) {
    runs.push(`${ctx.store.id} ${what}`)
  },
})

const [all] = fanOut(each)
const registry = { ...(await loadRegistry()), jobs: [each, all!] }
const { database } = await freshDatabase()
const app = await testApp({}, { registry, database })
/** The template of all other stores. */
const model = await store(app)

/** Creates so many stores; returns their ids in order. */
async function createStores(count: number): Promise<string[]> {
  const rows = await app.database.query<{ id: string }>(
    `insert into stores select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
       'slug', 'fan-' || n, 'public_id', 'fan-' || n, 'domain', 'fan-' || n || '.example.com'))).*
     from stores s, generate_series(1, $2) n where s.id = $1 returning id`,
    [model.id, count],
  )
  return rows.map(({ id }) => id).sort()
}
async function makeDue(): Promise<void> {
  await app.advance(600_000)
  clock.clockMoved()
}
/** Queued jobs of stores. */
async function findQueued(): Promise<string[]> {
  const rows = await app.database.query<{ job: string }>(
    `select concat(data->>'storeId', ' ', data->'payload'->>'what') as job from pgboss.job
     where data->>'job' = 'test-each' and state in ('created', 'retry')`,
    [],
  )
  return rows.map(({ job: told }) => told).sort()
}
/** Runs only the fan-out: its jobs stay queued. */
const { queue } = app.services
const queueOnly: Queue = {
  ...queue,
  backlog: () => queue.backlog(['maintenance']),
  fetch: async (...asked) => (asked[0] === 'maintenance' ? queue.fetch(...asked) : []),
}
const clock = new Worker({ ...app.services, queue: queueOnly }, [all!], app.metrics)
const system = new SystemContext(app.services, app.services.log, 'test')

beforeEach(async () => {
  runs.length = 0
  dueRows = []
  failingStore = null
  await app.database.query('delete from pgboss.job', [])
  await app.database.query('delete from stores where id <> $1', [model.id])
})

test('with more stores than a page, some with several rows, each row gets one job', async () => {
  const ids = await createStores(1100)
  // At the end of a page there is a store with rows on both sides.
  dueRows = ids.flatMap((id, at) =>
    (at >= 480 && at < 500 ? ['a', 'b', 'c'] : ['a']).map((what) => ({ store_id: id, what })),
  )
  const expected = dueRows.map(({ store_id, what }) => `${store_id} ${what}`).sort()
  dueRows.push(...dueRows.slice(0, 50))
  await makeDue()
  expect(await clock.drain()).toMatchObject({ ran: 1, failed: 0 })
  expect(await findQueued()).toEqual(expected)
})

test.runIf(isFullSuite)(
  'a store that is not found, or has nothing to do after all, gets no job',
  async () => {
    const [some, none, other] = await createStores(3)
    dueRows = [
      { store_id: some!, what: 'a' },
      { store_id: none!, what: 'nothing' },
    ]
    await makeDue()
    await app.drainJobs()
    expect(runs).toEqual([`${some} a`])
    expect(runs.join()).not.toContain(other)
  },
)

test('a failing store does not affect the others; the fan-out fails, is retried, and queues nothing twice', async () => {
  const ids = await createStores(510)
  dueRows = ids.map((store_id) => ({ store_id, what: 'a' }))
  failingStore = ids[1]!
  await makeDue()
  expect(await clock.drain()).toMatchObject({ ran: 0, failed: 1 })
  expect(await findQueued()).toEqual(ids.filter((id) => id !== failingStore).map((id) => `${id} a`))
  failingStore = null
  await app.advance(60_000)
  expect(await clock.drain()).toMatchObject({ ran: 1, failed: 0 })
  expect(await findQueued()).toEqual(ids.map((id) => `${id} a`))
})

test.runIf(isFullSuite)(
  'an aborted run stops between two pages; the next run queues for the remaining stores',
  async () => {
    const ids = await createStores(510)
    dueRows = ids.map((store_id) => ({ store_id, what: 'a' }))
    const ending = new AbortController()
    app.services.queue.onSent(() => ending.abort(new Error('stopping')))
    const attempt = { jobId: '', number: 1, isLast: true, signal: ending.signal }
    await expect(all!.spec.run(system as never, {}, attempt)).rejects.toThrow('stopping')
    expect(await findQueued()).toEqual(ids.slice(0, 500).map((id) => `${id} a`))
    await makeDue()
    await clock.drain()
    expect(await findQueued()).toEqual(ids.map((id) => `${id} a`))
  },
)
