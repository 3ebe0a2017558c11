// biome-ignore-all lint/plugin/clock: pg-boss dates its jobs by the database's own clock
/** What the worker promises of every job. */
import { expect, onTestFinished, test } from 'vitest'
import { handle } from '#runtime/jobs/handle'
import { claim, dueQueues } from '#runtime/jobs/statements'
import { Worker } from '#runtime/jobs/worker'
import { object } from '#runtime/schema'
import { store } from '#test/support/store'
import { jobsOfTests } from './worker-jobs.ts'

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
} = await jobsOfTests()

/** For a busy machine. */

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

test('what the clock queued for all stores leaves room for what somebody waits for, and goes before none of it', async () => {
  log.length = 0
  const letGo = holdBack()
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
  await expect.poll(() => begun).toContain('clock 29')
  expect(begun.length).toBeLessThan(keys.length)
  await ctx.queue(keyed.handle, { name: 'awaited', key: 'crowd' })
  await expect.poll(() => log).toContain('awaited')
  const kept = await database.query<{ seconds: number }>(
    `select distinct deletion_seconds as seconds from pgboss.job where name = 'test-crowd-b'`,
    [],
  )
  expect(kept).toEqual([{ seconds: 600 }])
  letGo()
  await drained
  expect(begun.toSorted()).toEqual([...keys, ...keys].toSorted())
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
  expect(seen.tellings).toBe(2)
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
