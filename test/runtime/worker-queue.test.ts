/** In which order jobs are queued and claimed, and that of a key one waits and one runs. */
import { setTimeout as wait } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { jobsOfTests } from './worker-jobs.ts'

const { app, crowd, ctx, database, keyed, log, of, seen } = await jobsOfTests()

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
      await queue.send(each, of(key))
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
  seen.together = 0
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
    expect(await app.services.queue.fetch([{ name: 'test-keyed', atMost: 1 }], 1, 'any')).toEqual([])
    isOver.resolve()
    await joining
    await app.drainJobs()
    expect(log.filter((line) => line === 'one')).toEqual(['one'])
  },
)

test('those that end together are written together, and none that is another run by now', async () => {
  const { queue } = app.services
  for (const key of ['first', 'second', 'third']) {
    await queue.send(crowd[0]!.handle, of(key))
  }
  await queue.send(keyed.handle, of('ends', 'it'))
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
