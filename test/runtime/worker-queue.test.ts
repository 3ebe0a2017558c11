/** The order in which jobs are queued and claimed; of a key one waits and one runs. */
import { setTimeout as wait } from 'node:timers/promises'
import { fromKysely } from 'pg-boss'
import { expect, test } from 'vitest'
import { Worker } from '#runtime/jobs/worker'
import { sha256 } from '#runtime/values/ids'
import { createTestJobs } from './worker-jobs.ts'

const { app, crowd, ctx, database, keyed, log, of, seen } = await createTestJobs()

test('many jobs are queued in order, of each key the first, also next to a concurrent sender in the same order', async () => {
  const { queue } = app.services
  // New rows would fill the places of deleted ones.
  await database.query('truncate pgboss.job', [])
  const keys = Array.from({ length: 200 }, (_none, at) => `in order ${String(at).padStart(3, '0')}`)
  const envelopes = keys.flatMap((key) => [of(key, `${key} first`), of(key, `${key} second`)])
  await queue.sendScheduled(crowd[0]!.handle, envelopes)
  // In stored order: jobs of one statement have the same instant.
  const stored = await database.query<{ name: string }>(
    `select data -> 'payload' ->> 'name' as name from pgboss.job order by ctid`,
    [],
  )
  expect(stored.map(({ name }) => name)).toEqual(keys.map((key) => `${key} first`))
  await database.query('delete from pgboss.job', [])
})

// If all share one connection, a sender waits for the transaction.
test.skipIf(database.kind === 'pglite' || process.env.TEST_DATABASE_POOLER !== undefined)(
  'a transaction and the scheduler that queue the same keys in the same order do not deadlock',
  async () => {
    const { queue } = app.services
    for (let round = 0; round < 5; round += 1) {
      let clock: Promise<void> | null = null
      await ctx.transaction(async (tx) => {
        await tx.queue(crowd[0]!.handle, of('a').payload)
        clock = queue.sendScheduled(crowd[0]!.handle, [of('a'), of('b')])
        await wait(50)
        await tx.queue(crowd[0]!.handle, of('b').payload)
      })
      await clock
      await database.query('delete from pgboss.job', [])
    }
  },
)

test('one job per key waits and one runs', async () => {
  const { queue } = app.services
  log.length = 0
  seen.together = 0
  const first = await ctx.queue(keyed.handle, { name: 'one', key: 'b' })
  const second = await ctx.queue(keyed.handle, { name: 'two', key: 'b' })
  expect(second.jobId).toBe(first.jobId)
  const [running] = await queue.fetch('interactive', 1)
  expect(running!.id).toBe(first.jobId)
  const third = await ctx.queue(keyed.handle, { name: 'three', key: 'b' })
  expect(third.jobId).not.toBe(first.jobId)
  // A scheduled job of the same key is behind it, too.
  await queue.sendScheduled(keyed.handle, [of('b', 'four')])
  const behind = [...(await queue.fetch('interactive', 1)), ...(await queue.fetch('scheduled', 1))]
  expect(behind).toHaveLength(2)
  expect(await queue.findBlocked([running!, ...behind])).toEqual(new Set(behind.map(({ id }) => id)))
  for (const job of behind) await queue.requeue(job, 1)
  await queue.requeue(running!, 0)
  for (let round = 0; round < 3; round += 1) {
    await app.advance(2000)
    await app.drainJobs()
  }
  expect(log.filter((line) => line === 'four')).toEqual(['four'])
  expect(seen.together).toBe(1)
})

// If all share one connection, a reader waits for that of the transaction.
test.skipIf(database.kind === 'pglite' || process.env.TEST_DATABASE_POOLER !== undefined)(
  'no worker claims a waiting job before the transaction that joined it has committed',
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
    expect(await app.services.queue.fetch('interactive', 1)).toEqual([])
    isOver.resolve()
    await joining
    await app.drainJobs()
    expect(log.filter((line) => line === 'one')).toEqual(['one'])
  },
)

// If all share one connection, claims are never concurrent.
test.skipIf(database.kind === 'pglite' || process.env.TEST_DATABASE_POOLER !== undefined)(
  'one job per key runs, even if two workers claim together and the first becomes visible last',
  async () => {
    const { queue } = app.services
    const two = [of('together', 'one'), of('together', 'two')]
    await queue.send(keyed.handle, two[0]!)
    await queue.sendScheduled(keyed.handle, [two[1]!])
    const { first, second } = await database.root.transaction().execute(async (transaction) => {
      const db = fromKysely(transaction)
      const [claimed] = await queue.boss.fetch('interactive', { db })
      const [other] = await queue.fetch('scheduled', 1)
      expect(await queue.findBlocked([other!])).toEqual(new Set())
      return { first: { ...other!, id: claimed!.id }, second: other! }
    })
    expect(await queue.findBlocked([first])).toEqual(new Set([first.id]))
    // Claimed together by one worker, only one of them runs.
    expect((await queue.findBlocked([first, second])).size).toBe(1)
    await database.query('delete from pgboss.job', [])
  },
)

test('a job sent in a transaction is announced after the commit', async () => {
  const sentJobs: string[] = []
  app.services.queue.onSent((queue) => sentJobs.push(queue))
  await ctx.transaction(async (tx) => {
    await tx.queue(keyed.handle, { name: 'committed', key: 'committed' })
    sentJobs.push('committing')
  })
  expect(sentJobs.at(-1)).toBe('interactive')
  await database.query('delete from pgboss.job', [])
})

test('a key may be longer than an index allows', async () => {
  const key = Array.from({ length: 200 }, (_none, at) => sha256(`${at}`)).join(' ')
  const first = await ctx.queue(keyed.handle, { name: 'long', key })
  expect(await ctx.queue(keyed.handle, { name: 'long', key })).toEqual(first)
  const other = await ctx.queue(keyed.handle, { name: 'other', key: `${key}.` })
  expect(other.jobId).not.toBe(first.jobId)
  await database.query('delete from pgboss.job', [])
})

test('a worker requeues unknown jobs without a pause, and runs those behind them', async () => {
  const { services, registry, metrics } = app
  log.length = 0
  const unknown = Array.from({ length: 200 }, (_none, at) => ({
    data: { ...of(`${at}`), job: 'test-of-tomorrow' },
    singletonKey: `unknown ${at}`,
    group: { id: `unknown ${at}` },
  }))
  await services.queue.boss.insert('interactive', unknown)
  await ctx.queue(keyed.handle, { name: 'known' })
  const worker = new Worker(services, registry.jobs, metrics)
  await worker.start()
  try {
    // With half a second per poll it would take at least twelve.
    await expect.poll(() => log, { timeout: 9000 }).toContain('known')
  } finally {
    await worker.stop()
    await database.query('delete from pgboss.job', [])
  }
})

test('a continuously awake worker finds jobs that another process queued, and jobs that come due', async () => {
  const { services, registry, metrics } = app
  log.length = 0
  const worker = new Worker(services, registry.jobs, metrics)
  await worker.start()
  try {
    // It gets no notification of the rows that this one writes.
    const { boss } = services.queue
    const row = (name: string, startAfter: number) => {
      const data = { ...of(name), payload: { name }, job: keyed.name }
      return { data, singletonKey: name, group: { id: ctx.store.id }, startAfter }
    }
    await boss.insert('bulk', [row('from another', 0), row('later', 1)])
    await expect
      .poll(
        () => {
          worker.clockMoved()
          return log.filter((line) => line !== 'tick')
        },
        { interval: 20, timeout: 15_000 },
      )
      .toEqual(['from another', 'later'])
  } finally {
    await worker.stop()
  }
})
