/** Jobs that the clock queues for each store with something to do (`every`). */
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

const ran: string[] = []
let given: { store_id: string; what: string }[] = []
let unlucky: string | null = null

const each = job(handle('test-each', object({ what: z.string() })), {
  description: 'A job of a test',
  retry: { limit: 0, backoffSeconds: 1 },
  timeoutSeconds: 60,
  safeTwice: 'It only writes to a list.',
  oneAtATimePer: ({ what }) => what,
  every: {
    seconds: 600,
    stores: () => sql<{ store_id: string; what: string }>`
      select * from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as g(store_id uuid, what text)`,
    payload({ store_id, what }) {
      if (store_id === unlucky) throw new Error('not this one')
      return what === 'nothing' ? null : { what }
    },
  },
  async run(ctx, { what }) {
    ran.push(`${ctx.store.id} ${what}`)
  },
})

const [all] = fanOut(each)
const registry = { ...(await loadRegistry()), jobs: [each, all!] }
const { database } = await freshDatabase()
const app = await testApp({}, { registry, database })
/** That all others are made like. */
const model = await store(app)

/** So many stores, in the order of their ids. */
async function storesMade(count: number): Promise<string[]> {
  const rows = await app.database.query<{ id: string }>(
    `insert into stores select (jsonb_populate_record(s, jsonb_build_object('id', gen_random_uuid(),
       'slug', 'fan-' || n, 'public_id', 'fan-' || n, 'domain', 'fan-' || n || '.example.com'))).*
     from stores s, generate_series(1, $2) n where s.id = $1 returning id`,
    [model.id, count],
  )
  return rows.map(({ id }) => id).sort()
}
async function comesDue(): Promise<void> {
  await app.advance(600_000)
  clock.clockMoved()
}
/** What is queued for stores. */
async function waiting(): Promise<string[]> {
  const rows = await app.database.query<{ job: string }>(
    `select concat(data->>'storeId', ' ', data->'payload'->>'what') as job from pgboss.job
     where data->>'job' = 'test-each' and state in ('created', 'retry')`,
    [],
  )
  return rows.map(({ job: told }) => told).sort()
}
/** Runs the fan-out alone: what it queues waits. */
const { queue } = app.services
const alone: Queue = {
  ...queue,
  backlog: () => queue.backlog(['maintenance']),
  fetch: async (...asked) => (asked[0] === 'maintenance' ? queue.fetch(...asked) : []),
}
const clock = new Worker({ ...app.services, queue: alone }, [all!], app.metrics)
const system = new SystemContext(app.services, app.services.log, 'test')

beforeEach(async () => {
  ran.length = 0
  given = []
  unlucky = null
  await app.database.query('delete from pgboss.job', [])
  await app.database.query('delete from stores where id <> $1', [model.id])
})

test('more stores than fit a page, some with several rows: each row has its job, once', async () => {
  const ids = await storesMade(1100)
  // Where a page ends there is a store with rows on both sides.
  given = ids.flatMap((id, at) =>
    (at >= 480 && at < 500 ? ['a', 'b', 'c'] : ['a']).map((what) => ({ store_id: id, what })),
  )
  const expected = given.map(({ store_id, what }) => `${store_id} ${what}`).sort()
  given.push(...given.slice(0, 50))
  await comesDue()
  expect(await clock.drain()).toMatchObject({ ran: 1, failed: 0 })
  expect(await waiting()).toEqual(expected)
})

test.runIf(isFullSuite)('who is not found, or has nothing to do after all, gets no job', async () => {
  const [some, none, other] = await storesMade(3)
  given = [
    { store_id: some!, what: 'a' },
    { store_id: none!, what: 'nothing' },
  ]
  await comesDue()
  await app.drainJobs()
  expect(ran).toEqual([`${some} a`])
  expect(ran.join()).not.toContain(other)
})

test('a store that fails keeps no other from its job; it fails, is tried again, and queues nothing twice', async () => {
  const ids = await storesMade(510)
  given = ids.map((store_id) => ({ store_id, what: 'a' }))
  unlucky = ids[1]!
  await comesDue()
  expect(await clock.drain()).toMatchObject({ ran: 0, failed: 1 })
  expect(await waiting()).toEqual(ids.filter((id) => id !== unlucky).map((id) => `${id} a`))
  unlucky = null
  await app.advance(60_000)
  expect(await clock.drain()).toMatchObject({ ran: 1, failed: 0 })
  expect(await waiting()).toEqual(ids.map((id) => `${id} a`))
})

test.runIf(isFullSuite)(
  'one that is to end does so between two pages; the next run queues for the others',
  async () => {
    const ids = await storesMade(510)
    given = ids.map((store_id) => ({ store_id, what: 'a' }))
    const ending = new AbortController()
    app.services.queue.onSent(() => ending.abort(new Error('stopping')))
    const attempt = { jobId: '', number: 1, isLast: true, signal: ending.signal }
    await expect(all!.spec.run(system as never, {}, attempt)).rejects.toThrow('stopping')
    expect(await waiting()).toEqual(ids.slice(0, 500).map((id) => `${id} a`))
    await comesDue()
    await clock.drain()
    expect(await waiting()).toEqual(ids.map((id) => `${id} a`))
  },
)
