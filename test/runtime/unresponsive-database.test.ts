// biome-ignore-all lint/nursery/noJsRestrictedProperties: a deadline is one of the machine: it tells an answer in time from none
/** An unresponsive database, and one with few connections left: statements meanwhile and afterwards. */
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Database } from '#db/database'
import { DatabaseUnresponsive } from '#db/deadlines'
import { openPostgres } from '#db/open'
import { Deadline, withTimeout } from '#runtime/gateway/deadline'
import { freshDatabase, type TestApp, testApp } from '#test/support/app'
import { type BlackHole, blackHole } from '#test/support/black-hole'
import { whenFileEnds } from '#test/support/closing'
import { type Shop, store } from '#test/support/store'

const url = inject('postgresUrl')
const statementMs = 600
const silentAfterMs = 800
const requestMs = 2_000

async function measure<T>(work: Promise<T>): Promise<{ ms: number; result: PromiseSettledResult<T> }> {
  const startedAt = performance.now()
  const [result] = await Promise.allSettled([work])
  return { ms: performance.now() - startedAt, result: result! }
}

async function openThroughHole(sizes: { reads?: number; transactions?: number } = {}) {
  const hole = await blackHole(url!)
  const database = openPostgres(hole.url, { reads: 1, transactions: 1, ...sizes, deadlines: { statementMs } })
  whenFileEnds(() => database.close())
  return { hole, database }
}

const selectOne = (database: Database, n: number) => database.query<{ n: number }>('select $1::int as n', [n])

describe.skipIf(!url)('a silent database', () => {
  test('a statement fails in time, and its late answer reaches no other', async () => {
    const { hole, database } = await openThroughHole()
    for (let times = 0; times < 3; times += 1) {
      expect(await selectOne(database, times)).toEqual([{ n: times }])
      hole.silence()
      const asked = await Promise.all([100, 101, 102].map((n) => measure(selectOne(database, n))))
      for (const { ms, result } of asked) {
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnresponsive) })
        // A read is repeated on a new connection.
        expect(ms).toBeLessThan(2 * silentAfterMs + 1000)
      }
      hole.speak()
      const after = await Promise.all(Array.from({ length: 20 }, (_none, n) => selectOne(database, n)))
      expect(after.flat()).toEqual(Array.from({ length: 20 }, (_none, n) => ({ n })))
    }
  })

  test('PostgreSQL ends slow statements; the connection stays', async () => {
    const { database } = await openThroughHole()
    const pid = () => database.query('select pg_backend_pid() as pid where $1::int = 1', [1])
    const before = await pid()
    const slow = await measure(database.query('select pg_sleep($1::float8)', [30]))
    expect(slow.result).toMatchObject({ status: 'rejected', reason: { code: '57014' } })
    expect(slow.ms).toBeGreaterThan(statementMs - 100)
    expect(await pid()).toEqual(before)
  })

  test('a transaction whose statement timed out fails and leaves nothing; the next one works', async () => {
    const { hole, database } = await openThroughHole()
    await database.script('create table if not exists left_by_silence (n int)')
    for (const isStopped of [true, false]) {
      const lost = database.root.transaction().execute(async (tx) => {
        await sql`insert into left_by_silence values (1)`.execute(tx)
        if (isStopped) hole.silence()
        await sql`select pg_sleep(30)`.execute(tx)
      })
      const { ms, result } = await measure(lost)
      expect(result.status).toBe('rejected')
      expect(ms).toBeLessThan(silentAfterMs + 1500)
      hole.speak()
      const kept = await database.root
        .transaction()
        .execute((tx) => sql<{ n: number }>`select count(*)::int as n from left_by_silence`.execute(tx))
      expect(kept.rows).toEqual([{ n: 0 }])
    }
    await database.script('drop table left_by_silence')
  })

  test("nobody waits forever for a transaction's connection", async () => {
    const { database } = await openThroughHole()
    const release = Promise.withResolvers<void>()
    const holder = database.root.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      await release.promise
    })
    const { ms, result } = await measure(
      database.root.transaction().execute((tx) => sql`select 1`.execute(tx)),
    )
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnresponsive) })
    expect(ms).toBeLessThan(silentAfterMs + 1000)
    release.resolve()
    await holder
  })

  test('long-running work may take its time while the database answers others, and fails when it does not', async () => {
    const { hole, database } = await openThroughHole()
    const { longRunning } = database
    const slowly = (seconds: number) =>
      longRunning.query('select 1 as done from pg_sleep($1::float8)', [seconds])
    const transaction = longRunning.root
      .transaction()
      .execute((tx) => sql`select 1 as done from pg_sleep(${2})`.execute(tx))
    const answers = await Promise.all([slowly(2), transaction, longRunning.script('select 1 as done')])
    expect([answers[0], answers[1].rows, answers[2]]).toEqual(Array(3).fill([{ done: 1 }]))

    const work = measure(slowly(60))
    await wait(100)
    hole.silence()
    const { ms, result } = await work
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnresponsive) })
    expect(ms).toBeLessThan(silentAfterMs + 5_000 + 1_500)
    hole.speak()
    expect(await longRunning.query('select $1::int as n', [1])).toEqual([{ n: 1 }])
  })

  test('a connection that is not accepted is given up in time', async () => {
    const { hole, database } = await openThroughHole()
    hole.silence()
    const { ms, result } = await measure(selectOne(database, 1))
    expect(result.status).toBe('rejected')
    expect(ms).toBeLessThan(silentAfterMs + 1000)
  })
})

describe.skipIf(!url)('few connections left', () => {
  test('statements use the connections that exist', async () => {
    const { hole, database } = await openThroughHole({ reads: 3, transactions: 3 })
    const inTransaction = (n: number) =>
      database.root.transaction().execute(async (tx) => {
        await wait(5)
        return (await sql<{ n: number }>`select ${n}::int as n`.execute(tx)).rows
      })
    await Promise.all([selectOne(database, 1), inTransaction(1)])
    hole.allowOnly(hole.connections())
    for (let round = 0; round < 5; round += 1) {
      const asked = Array.from({ length: 30 }, (_none, n) => n)
      const answers = await Promise.all(
        asked.map((n) => {
          if (n % 3 === 0) return inTransaction(n)
          return database.query<{ n: number }>('select $1::int as n', [n], n % 3 === 1 ? 'once' : undefined)
        }),
      )
      expect(answers.flat()).toEqual(asked.map((n) => ({ n })))
    }
    hole.allowOnly(100)
    expect(await selectOne(database, 7)).toEqual([{ n: 7 }])
  })

  test('without any connection the reason is reported at once', async () => {
    const { hole, database } = await openThroughHole({ reads: 3, transactions: 3 })
    hole.allowOnly(0)
    const begun = database.root.transaction().execute((tx) => sql`select 1`.execute(tx))
    for (const { ms, result } of await Promise.all([measure(selectOne(database, 1)), measure(begun)])) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: '53300' } })
      expect(ms).toBeLessThan(silentAfterMs)
    }
    hole.allowOnly(100)
    expect(await selectOne(database, 1)).toEqual([{ n: 1 }])
  })
})

describe.skipIf(!url)('the server, while its database is silent', () => {
  let made: Promise<{ app: TestApp; shop: Shop; hole: BlackHole }> | null = null
  /** On first use: the file is also loaded without a server. */
  const server = () => {
    made ??= (async () => {
      const { database: direct, url: own } = await freshDatabase()
      whenFileEnds(() => direct.close())
      const hole = await blackHole(own!)
      const database = openPostgres(hole.url, { reads: 2, transactions: 3, deadlines: { statementMs } })
      const app = await testApp({ requestTimeoutMs: requestMs, keyLeaseMs: 1 }, { database, strict: false })
      return { app, shop: await store(app), hole }
    })()
    return made
  }
  beforeAll(async () => void (await server()))

  const refusedInTime = async (asked: Promise<{ status: number; body: unknown; headers: Headers }>) => {
    const { ms, result } = await measure(asked)
    expect(result).toMatchObject({
      status: 'fulfilled',
      value: { status: 503, body: { error: { code: 'unavailable' } } },
    })
    expect(ms).toBeLessThan(requestMs + 1000)
    const { headers } = (result as PromiseFulfilledResult<{ headers: Headers }>).value
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
  }

  test('reads and writes are answered in time, repeatedly, and work when the database is back', async () => {
    const { shop, hole } = await server()
    const list = { name: 'Newsletter' }
    for (let round = 0; round < 2; round += 1) {
      hole.silence()
      await Promise.all([
        refusedInTime(shop.request('GET', '/store')),
        refusedInTime(shop.request('GET', '/campaigns')),
        refusedInTime(shop.request('POST', '/campaigns/lists', { body: list })),
        refusedInTime(
          shop.request('POST', '/campaigns/lists', {
            body: list,
            headers: { 'idempotency-key': `k${round}` },
          }),
        ),
      ])
      hole.speak()
      expect((await shop.request('GET', '/store')).status).toBe(200)
    }
    const again = await shop.request('POST', '/campaigns/lists', {
      body: list,
      headers: { 'idempotency-key': 'another' },
    })
    expect(again.status).toBe(201)
  })

  test('every address outside /v1 is answered in time', async () => {
    const { app, shop, hole } = await server()
    const addresses = [
      ...['/healthz', '/readyz', '/metrics', '/docs', '/files/nothing', '/nowhere'].map((path) => [
        'GET',
        path,
      ]),
      ['POST', '/mcp'],
      ...app.registry.pages.map(({ method, path }) => [method, path]),
    ] as [string, string][]
    hole.silence()
    const answers = await Promise.all(
      addresses.map(async ([method, path]) => {
        const filled = path
          .replace(':publicId', shop.publicId)
          .replace(':storeId', shop.slug)
          .replace(/:\w+/g, 'a')
        const request = new Request(`http://localhost${filled}`, {
          method,
          headers: { authorization: `Bearer ${shop.key}`, 'content-type': 'application/json' },
          ...(method === 'GET' ? {} : { body: '{"timeoutSeconds":1,"advanceSeconds":1}' }),
        })
        const { ms, result } = await measure(Promise.resolve(app.fetch(request, { ip: '127.0.0.1' })))
        const answer = (result as PromiseFulfilledResult<Response>).value
        return { path: `${method} ${path}`, ms, answer, text: await answer.text() }
      }),
    )
    hole.speak()
    const late = answers.filter(({ ms }) => ms > requestMs + 1500).map(({ path, ms }) => `${path}: ${ms}`)
    expect(late).toEqual([])
    const wrong = answers
      .filter(({ answer }) => answer.status >= 500)
      .filter(({ answer }) => answer.status !== 503 || !/^\d+$/.test(answer.headers.get('retry-after') ?? ''))
      .map(({ path, answer }) => `${path}: ${answer.status}`)
    expect(wrong).toEqual([])
    const byPath = new Map(answers.map((each) => [each.path, each]))
    expect(byPath.get('GET /healthz')!.answer.status).toBe(200)
    expect(byPath.get('GET /readyz')!.answer.status).toBe(503)
    expect(byPath.get('GET /readyz')!.ms).toBeLessThan(2_000)
    expect(byPath.get('GET /metrics')!.text).toContain('\ndatabase_up 0\n')
    // The check is meaningful: most of them needed the database.
    expect(answers.filter(({ answer }) => answer.status === 503).length).toBeGreaterThan(addresses.length / 3)
    // Pages of shops may read the reason.
    const widgets = answers.filter(
      ({ path, answer }) => /^GET \/storefront/.test(path) && answer.status === 503,
    )
    expect(widgets.length).toBeGreaterThan(0)
    for (const { answer } of widgets) expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('readiness comes back with the database', async () => {
    const { app, hole } = await server()
    hole.silence()
    await expect(app.findUnready()).rejects.toThrow()
    hole.speak()
    await expect.poll(() => app.findUnready().catch(() => false)).toBeNull()
    const metrics = await app.fetch(new Request('http://localhost/metrics'), { ip: '127.0.0.1' })
    expect(await metrics.text()).toContain('\ndatabase_up 1\n')
  })
})

describe('the deadline of a request', () => {
  test('a timeout is reported once; slow senders and extended requests are not late', async () => {
    const deadline = new Deadline(200)
    whenFileEnds(() => deadline.close())
    const events: string[] = []
    let bytes = 0
    deadline.begin(
      () => 0,
      () => events.push('slow'),
    )
    const sending = deadline.begin(
      () => ++bytes,
      () => events.push('sending'),
    )
    const allowed = deadline.begin(
      () => 0,
      () => events.push('allowed'),
    )
    allowed.allow(5_000)
    const quick = deadline.begin(
      () => 0,
      () => events.push('quick'),
    )
    expect(quick.end()).toBe(true)
    await wait(700)
    expect(events).toEqual(['slow'])
    expect([sending.end(), allowed.end()]).toEqual([true, true])
  })

  test('a timely result is returned, a late one is a failure', async () => {
    expect(await withTimeout(1000, Promise.resolve(1))).toBe(1)
    await expect(withTimeout(20, new Promise(() => {}))).rejects.toThrow('within 20 ms')
  })
})
