/** What the worker promises of every job. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { job, serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { claim, dueQueues } from '#runtime/jobs/statements'
import { Worker } from '#runtime/jobs/worker'
import { loadRegistry } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { freshDatabase, testApp, withWiring } from '#test/support/app'
import { store } from '#test/support/store'

const log: string[] = []
const payload = object({ name: z.string(), key: z.string().optional() })
const base = {
  description: 'A job of a test',
  timeoutSeconds: 60,
  safeTwice: 'It only writes to a list.',
}

/** For a busy machine. */
const soon = { timeout: 20_000 }

let open = 0
let together = 0
const keyed = job(handle('test-keyed', payload), {
  ...base,
  retry: { limit: 0, backoffSeconds: 1 },
  oneAtATimePer: ({ key }) => key ?? '',
  async run(_ctx, { name }) {
    open += 1
    together = Math.max(together, open)
    await wait(30)
    log.push(name)
    open -= 1
  },
})
/** Two that the clock queues for all stores: each runs until it is let go. */
const crowd = ['test-crowd-a', 'test-crowd-b'].map((name) =>
  job(handle(name, payload), {
    ...base,
    retry: { limit: 0, backoffSeconds: 1 },
    oneAtATimePer: ({ key }) => key ?? '',
    concurrency: 100,
    async run(_ctx, { name: own }) {
      begun.push(own)
      await letGo.promise
    },
  }),
)
const begun: string[] = []
let letGo = Promise.withResolvers<void>()
const failing = job(handle('test-failing', payload), {
  ...base,
  retry: { limit: 2, backoffSeconds: 1 },
  async run(_ctx, { name }, { number, isLast }) {
    log.push(`${name} ${number}${isLast ? ' last' : ''}`)
    throw new Error('as told')
  },
  async failed(_ctx, { name }, reason) {
    log.push(`${name} gave up: ${reason}`)
  },
})
const clocked = serverJob(handle('test-clocked', object({})), {
  ...base,
  everySeconds: 3600,
  retry: { limit: 0, backoffSeconds: 1 },
  async run() {
    log.push('tick')
  },
})

let tellings = 0
const lost = job(handle('test-lost', payload), {
  ...base,
  retry: { limit: 1, backoffSeconds: 1 },
  async run(_ctx, { name }) {
    log.push(`${name} ran`)
  },
  async failed(ctx, { name }, reason) {
    tellings += 1
    if (tellings === 1) throw new Error('the database is away')
    log.push(`${name} of ${ctx.store.id} gave up: ${reason}`)
  },
})

/** Jobs that failed for good, as they were told. */
const heard: string[] = []
const told = withWiring(await loadRegistry(), {
  jobFailed: [
    async (_ctx, name, jobId, reason) => {
      heard.push(`${name} ${jobId} ${reason}`)
    },
  ],
})
const registry = { ...told, jobs: [...crowd, keyed, failing, clocked, lost] }
const { database } = await freshDatabase()
const app = await testApp({}, { registry, database })
const shop = await store(app)
const ctx = await shop.context()
/** What is queued of a key. */
const of = (key: string, name = key) => ({
  storeId: shop.id,
  userId: null,
  requestId: 'test',
  payload: { name, key },
})

test('a job is queued with its cause, or not at all', async () => {
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

test('what is asked for sooner than it waits for is not held up; later, it stays', async () => {
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

test('what the clock queued for all stores leaves room for what somebody waits for, and goes before none of it', {
  timeout: 60_000,
}, async () => {
  log.length = 0
  begun.length = 0
  letGo = Promise.withResolvers()
  const { queue } = app.services
  await app.drainJobs() // what the clock has due would have one of the places
  const keys = Array.from({ length: 30 }, (_, at) => `clock ${at}`)
  for (const { handle: each } of crowd)
    await queue.sendInBackground(
      each,
      keys.map((key) => of(key)),
    )
  // Of a key one waits: it is asked for now, and goes before the others of its queue.
  await queue.sendInBackground(
    crowd[0]!.handle,
    keys.map((key) => of(key)),
  )
  const [first] = await database.query<{ id: string }>(
    `select id from pgboss.job where name = 'test-crowd-a' and data -> 'payload' ->> 'key' = 'clock 29'`,
    [],
  )
  expect(await queue.send(crowd[0]!.handle, of('clock 29'))).toBe(first!.id)
  const drained = app.drainJobs()
  // None of them ends yet: of those that have a place it is one, though it was queued last of its queue.
  await expect.poll(() => begun, soon).toContain('clock 29')
  expect(begun.length).toBeLessThan(keys.length)
  await ctx.queue(keyed.handle, { name: 'awaited', key: 'crowd' })
  await expect.poll(() => log, soon).toContain('awaited')
  const kept = await database.query<{ seconds: number }>(
    `select distinct deletion_seconds as seconds from pgboss.job where name = 'test-crowd-b'`,
    [],
  )
  expect(kept).toEqual([{ seconds: 600 }])
  letGo.resolve()
  await drained
  expect(begun.toSorted()).toEqual([...keys, ...keys].toSorted())
})

test('as long as there is room anew, the whole queue is not looked at', async () => {
  const { queue } = app.services
  const looksAtAll = vi.spyOn(queue, 'unfinished')
  onTestFinished(() => looksAtAll.mockRestore())
  const names = Array.from({ length: 50 }, (_none, n) => `small ${n}`)
  log.length = 0
  await queue.sendInBackground(
    keyed.handle,
    names.map((name) => of(name)),
  )
  await app.drainJobs()
  expect(log.filter((line) => line.startsWith('small')).toSorted()).toEqual(names.toSorted())
  // A last one, on a server's connections.
  expect(looksAtAll.mock.calls.length).toBeLessThanOrEqual(1)
})

test('who looks for a key looks at those that wait or run alone, however many are kept', async () => {
  await database.query(
    `insert into pgboss.job (id, name, state, singleton_key, policy, completed_on, started_on)
     select gen_random_uuid(), 'test-keyed', 'completed', 'kept ' || n, 'short', now(), now()
     from generate_series(1, 5000) as n`,
    [],
  )
  await database.query('analyze pgboss.job_common', [])
  const looks = [
    `name = 'test-keyed' and singleton_key = 'kept 1' and state = 'active'`,
    `name = 'test-keyed' and singleton_key = 'kept 1' and state < 'active'`,
    `name = 'test-keyed' and state < 'active' and not blocked and start_after <= now() and priority >= 0`,
  ]
  for (const look of looks) {
    const plan = await database.query(`explain select 1 from pgboss.job where ${look}`, [])
    expect(JSON.stringify(plan), look).toMatch(
      /Index (Only )?Scan using job_common_(name_singleton_key_idx|i11)/,
    )
  }
  await database.query(`delete from pgboss.job where singleton_key like 'kept %'`, [])
})

interface Plan {
  'Relation Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  Plans?: Plan[]
}

/** Of tables, those that were passed over counted. */
const rowsRead = (plan: Plan): number =>
  (plan['Relation Name'] === undefined
    ? 0
    : (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops']) +
  (plan.Plans ?? []).map(rowsRead).reduce((sum, rows) => sum + rows, 0)

test('of thousands that the clock queued at once, a claim reads those that it takes', async () => {
  await database.query('delete from pgboss.job', [])
  onTestFinished(async () => void (await database.query('delete from pgboss.job', [])))
  // So it was when PostgreSQL looked last: all done.
  await database.query(
    `insert into pgboss.job (id, name, state, singleton_key, policy, completed_on)
     select gen_random_uuid(), 'test-crowd-a', 'completed', 'kept ' || n, 'short', now()
     from generate_series(1, 3000) as n`,
    [],
  )
  await database.query('analyze pgboss.job', [])
  for (let page = 0; page < 8; page += 1) {
    const some = Array.from({ length: 500 }, (_, at) => `${page}-${at}`)
    await app.services.queue.sendInBackground(
      crowd[0]!.handle,
      some.map((key) => of(key)),
    )
  }
  const names = crowd.map(({ name }) => name)
  const asked = [names, names.map(() => 4), 4, -1]
  for (const plan of ['as PostgreSQL decides', 'once'] as const) {
    const [claimed] = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, format json) ${claim}`,
      asked,
      plan === 'once' ? plan : undefined,
    )
    if (!database.pglite || plan !== 'once')
      expect(rowsRead(claimed!['QUERY PLAN'][0].Plan), plan).toBeLessThan(100)
  }

  // Nor does who looks whether any wait read more of them, where connections say how they plan.
  const [row] = await database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, format json) ${dueQueues}`,
    [names, true, 1],
    'once',
  )
  if (!database.pglite) expect(rowsRead(row!['QUERY PLAN'][0].Plan)).toBeLessThan(100)
  const due = await app.services.queue.due(names)
  expect(due).toEqual([{ name: 'test-crowd-a', isAwaited: false, isInBackground: true }])
})

test('many at once are queued in their order, of a key the first, and beside who asks for the same in that order', async () => {
  const { queue } = app.services
  await database.query('delete from pgboss.job', [])
  const keys = Array.from({ length: 200 }, (_none, at) => `in order ${String(at).padStart(3, '0')}`)
  const envelopes = keys.flatMap((key) => [of(key, `${key} first`), of(key, `${key} second`)])
  await queue.sendInBackground(crowd[0]!.handle, envelopes)
  // As they lie there: of one statement all have one instant.
  const stored = await database.query<{ name: string }>(
    `select data -> 'payload' ->> 'name' as name from pgboss.job order by ctid`,
    [],
  )
  expect(stored.map(({ name }) => name)).toEqual(keys.map((key) => `${key} first`))
  await database.query('delete from pgboss.job', [])
})

// Where all share one connection, who sends waits for the transaction.
test.skipIf(database.kind === 'pglite' || process.env.TEST_DATABASE_POOLER !== undefined)(
  'a transaction and the clock that ask for the same keys in one order do not wait for each other',
  async () => {
    const { queue } = app.services
    for (let round = 0; round < 5; round += 1) {
      let clock: Promise<void> | null = null
      await ctx.transaction(async (tx) => {
        await tx.queue(crowd[0]!.handle, of('a').payload)
        clock = queue.sendInBackground(crowd[0]!.handle, [of('a'), of('b')])
        await wait(50)
        await tx.queue(crowd[0]!.handle, of('b').payload)
      })
      await clock
      await database.query('delete from pgboss.job', [])
    }
  },
)

test('of several queues as many are claimed as there is room for, in the order of the queues', async () => {
  const { queue } = app.services
  const [one, other] = [crowd[0]!, crowd[1]!]
  for (const { handle: each } of [other, one]) {
    for (const key of ['1', '2', '3']) {
      await queue.send(each, {
        storeId: shop.id,
        userId: null,
        requestId: 'test',
        payload: { name: key, key },
      })
    }
  }
  const wanted = [one, other].map(({ name }) => ({ name, atMost: 2 }))
  const claim = async (inAll: number) => (await queue.fetch(wanted, inAll, 'awaited')).map(({ name }) => name)
  expect((await claim(3)).toSorted()).toEqual([one.name, one.name, other.name])
  // What it did not take was nobody's meanwhile.
  expect((await claim(9)).toSorted()).toEqual([one.name, other.name, other.name])
  expect(await claim(9)).toEqual([])
  await database.query('delete from pgboss.job', [])
})

test('of one key one waits and one runs', async () => {
  log.length = 0
  together = 0
  const first = await ctx.queue(keyed.handle, { name: 'one', key: 'b' })
  const second = await ctx.queue(keyed.handle, { name: 'two', key: 'b' })
  expect(second.jobId).toBe(first.jobId)
  const [running] = await app.services.queue.fetch([{ name: 'test-keyed', atMost: 1 }], 1, 'any')
  expect(running!.id).toBe(first.jobId)
  const third = await ctx.queue(keyed.handle, { name: 'three', key: 'b' })
  expect(third.jobId).not.toBe(first.jobId)
  const [behind] = await app.services.queue.fetch([{ name: 'test-keyed', atMost: 1 }], 1, 'any')
  expect(behind!.mayBeBehind).toBe(true)
  const both = [running!, behind!]
  expect(await app.services.queue.behindAnother(both)).toEqual([behind!.id])
  await app.services.queue.postpone('test-keyed', behind!, 1)
  await app.services.queue.handBack('test-keyed', running!)
  for (let round = 0; round < 3; round += 1) {
    await app.advance(2000)
    await app.drainJobs()
  }
  expect(log.filter((line) => line === 'one')).toEqual(['one'])
  expect(together).toBe(1)
})

// Where all share one connection, who looks waits for that of the transaction.
test.skipIf(database.kind === 'pglite' || process.env.TEST_DATABASE_POOLER !== undefined)(
  'nobody takes up what waits before that is there which it was asked for with',
  async () => {
    log.length = 0
    const first = await ctx.queue(keyed.handle, { name: 'one', key: 'joined' })
    const [isJoined, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const joining = ctx.transaction(async (tx) => {
      const joined = await tx.queue(keyed.handle, { name: 'two', key: 'joined' })
      expect(joined.jobId).toBe(first.jobId)
      isJoined.resolve()
      await isOver.promise
    })
    await isJoined.promise
    expect(await app.services.queue.fetch([{ name: 'test-keyed', atMost: 1 }], 1, 'any')).toEqual([])
    isOver.resolve()
    await joining
    await app.drainJobs()
    expect(log.filter((line) => line === 'one')).toEqual(['one'])
  },
)

test('those that end together are written together, and none that is another run by now', async () => {
  const { queue } = app.services
  const envelope = { storeId: shop.id, userId: null, requestId: 'test' }
  for (const key of ['first', 'second', 'third']) {
    await queue.send(crowd[0]!.handle, { ...envelope, payload: { name: key, key } })
  }
  await queue.send(keyed.handle, { ...envelope, payload: { name: 'it', key: 'ends' } })
  const runs = [
    ...(await queue.fetch([{ name: 'test-crowd-a', atMost: 3 }], 3, 'awaited')),
    ...(await queue.fetch([{ name: 'test-keyed', atMost: 1 }], 1, 'any')),
  ]
  expect(runs).toHaveLength(4)
  const [stale, ...others] = runs
  await database.query('update pgboss.job set retry_count = retry_count + 1 where id = $1', [stale!.id])
  await Promise.all(runs.map((run) => queue.complete(run.name, run)))
  const states = await database.query<{ id: string; state: string }>(
    `select id, state, completed_on is not null as "isDone" from pgboss.job where id = any($1::uuid[]) order by id`,
    [runs.map(({ id }) => id)],
  )
  const expected = [
    { id: stale!.id, state: 'active', isDone: false },
    ...others.map(({ id }) => ({ id, state: 'completed', isDone: true })),
  ]
  expect(states).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
  await queue.complete(stale!.name, { ...stale!, retryCount: stale!.retryCount + 1 })
  expect(await queue.unfinished(['test-crowd-a', 'test-keyed'])).toBe(0)
})

test('a failing job is tried again, later and later, then given up and told', async () => {
  log.length = 0
  await ctx.queue(failing.handle, { name: 'it' })
  for (let tries = 0; tries < 4; tries += 1) {
    await app.drainJobs({ allowFailures: true })
    await app.advance(3_600_000)
  }
  expect(log.filter((line) => line !== 'tick')).toEqual(['it 1', 'it 2', 'it 3 last', 'it gave up: as told'])
})

test('a job whose worker is lost at its last try is given up and told once, on whichever instance', async () => {
  log.length = 0
  heard.length = 0
  const { jobId } = await ctx.queue(lost.handle, { name: 'it' })
  // As a worker that claims it and dies: nothing is heard of it any more.
  const die = async () => {
    await app.advance(3_600_000)
    const [claimed] = await app.services.queue.fetch([{ name: 'test-lost', atMost: 1 }], 1, 'any')
    expect(claimed?.id).toBe(jobId)
    await database.query(`update pgboss.job set heartbeat_on = now() - interval '1 hour' where id = $1`, [
      jobId,
    ])
    await app.services.queue.boss.supervise('test-lost')
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
  expect(tellings).toBe(2)
  expect(heard).toEqual([`test-lost ${jobId} job heartbeat timeout`])
})

test('what runs by the clock runs once for each time it has come due', async () => {
  log.length = 0
  await app.advance(3_600_000)
  await Promise.all([app.worker.schedule(), app.worker.schedule()])
  await app.drainJobs()
  expect(log).toEqual(['tick'])
  await app.drainJobs()
  expect(log).toEqual(['tick'])
})

test('a handle that no job takes is refused where it is queued', async () => {
  const ctx = await shop.context()
  await expect(ctx.queue(handle('test-nobody', object({})), {})).rejects.toThrow(
    'No job takes the handle test-nobody: write jobs/test-nobody.ts',
  )
})

test('a payload that does not fit is refused where it is queued', async () => {
  await expect(ctx.queue(keyed.handle, { name: 1 } as never)).rejects.toThrow()
})

test('the job of a store that is gone ends quietly', async () => {
  const other = await store(app)
  await (await other.context()).queue(keyed.handle, { name: 'lost', key: 'c' })
  await database.query('delete from stores where id = $1', [other.id])
  log.length = 0
  await app.drainJobs()
  expect(log).toEqual([])
})
