/** In which order jobs are queued and claimed, and that of a key one waits and one runs. */
import { setTimeout as wait } from 'node:timers/promises'
import { fromKysely } from 'pg-boss'
import { expect, test } from 'vitest'
import { Worker } from '#runtime/jobs/worker'
import { sha256 } from '#runtime/values/ids'
import { jobsOfTests } from './worker-jobs.ts'

const { app, crowd, ctx, database, keyed, log, of, seen } = await jobsOfTests()

test('many at once are queued in their order, of a key the first, and beside who asks for the same in that order', async () => {
  const { queue } = app.services
  await database.query('delete from pgboss.job', [])
  const keys = Array.from({ length: 200 }, (_none, at) => `in order ${String(at).padStart(3, '0')}`)
  const envelopes = keys.flatMap((key) => [of(key, `${key} first`), of(key, `${key} second`)])
  await queue.sendScheduled(crowd[0]!.handle, envelopes)
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
        clock = queue.sendScheduled(crowd[0]!.handle, [of('a'), of('b')])
        await wait(50)
        await tx.queue(crowd[0]!.handle, of('b').payload)
      })
      await clock
      await database.query('delete from pgboss.job', [])
    }
  },
)

test('of one key one waits and one runs', async () => {
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
  // What the clock queues of the same key is behind it too.
  await queue.sendScheduled(keyed.handle, [of('b', 'four')])
  const behind = [...(await queue.fetch('interactive', 1)), ...(await queue.fetch('scheduled', 1))]
  expect(behind).toHaveLength(2)
  expect(await queue.behindAnother([running!, ...behind])).toEqual(new Set(behind.map(({ id }) => id)))
  for (const job of behind) await queue.putBack(job, 1)
  await queue.putBack(running!, 0)
  for (let round = 0; round < 3; round += 1) {
    await app.advance(2000)
    await app.drainJobs()
  }
  expect(log.filter((line) => line === 'four')).toEqual(['four'])
  expect(seen.together).toBe(1)
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
    expect(await app.services.queue.fetch('interactive', 1)).toEqual([])
    isOver.resolve()
    await joining
    await app.drainJobs()
    expect(log.filter((line) => line === 'one')).toEqual(['one'])
  },
)

// Where all share one connection, none claims while another does.
test.skipIf(database.kind === 'pglite' || process.env.TEST_DATABASE_POOLER !== undefined)(
  'of a key one runs, also where two workers claim together and the first is seen last',
  async () => {
    const { queue } = app.services
    const two = [of('together', 'one'), of('together', 'two')]
    await queue.send(keyed.handle, two[0]!)
    await queue.sendScheduled(keyed.handle, [two[1]!])
    const { first, second } = await database.root.transaction().execute(async (transaction) => {
      const db = fromKysely(transaction)
      const [claimed] = await queue.boss.fetch('interactive', { db })
      const [other] = await queue.fetch('scheduled', 1)
      expect(await queue.behindAnother([other!])).toEqual(new Set())
      return { first: { ...other!, id: claimed!.id }, second: other! }
    })
    expect(await queue.behindAnother([first])).toEqual(new Set([first.id]))
    // Claimed by one worker together, one of them goes on.
    expect((await queue.behindAnother([first, second])).size).toBe(1)
    await database.query('delete from pgboss.job', [])
  },
)

test('what is sent in a transaction is told of once it is there', async () => {
  const told: string[] = []
  app.services.queue.onSent((queue) => told.push(queue))
  await ctx.transaction(async (tx) => {
    await tx.queue(keyed.handle, { name: 'committed', key: 'committed' })
    told.push('committing')
  })
  expect(told.at(-1)).toBe('interactive')
  await database.query('delete from pgboss.job', [])
})

test('a key may be longer than an index takes', async () => {
  const key = Array.from({ length: 200 }, (_none, at) => sha256(`${at}`)).join(' ')
  const first = await ctx.queue(keyed.handle, { name: 'long', key })
  expect(await ctx.queue(keyed.handle, { name: 'long', key })).toEqual(first)
  const other = await ctx.queue(keyed.handle, { name: 'other', key: `${key}.` })
  expect(other.jobId).not.toBe(first.jobId)
  await database.query('delete from pgboss.job', [])
})

test('a worker puts back what it does not know without a rest, and runs what is behind it', async () => {
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
    // Half a second for each look would be twelve at least.
    await expect.poll(() => log, { timeout: 9000 }).toContain('known')
  } finally {
    await worker.stop()
    await database.query('delete from pgboss.job', [])
  }
})

test('a worker that is awake all the time finds what another process queued, and what comes due', async () => {
  const { services, registry, metrics } = app
  log.length = 0
  const worker = new Worker(services, registry.jobs, metrics)
  await worker.start()
  try {
    // It hears of nothing that this one writes.
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
