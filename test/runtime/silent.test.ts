// biome-ignore-all lint/nursery/noJsRestrictedProperties: a deadline is one of the machine: it tells an answer in time from none
/** A database that says nothing, and one with few connections left: what is asked meanwhile, and after. */
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import type { Database } from '#db/database'
import { DatabaseSilent } from '#db/deadlines'
import { openPostgres } from '#db/open'
import { Deadline, withinMs } from '#runtime/gateway/deadline'
import { freshDatabase, type TestApp, testApp } from '#test/support/app'
import { type BlackHole, blackHole } from '#test/support/black-hole'
import { whenFileEnds } from '#test/support/closing'
import { type Shop, store } from '#test/support/store'

const url = inject('postgresUrl')
const statementMs = 600
const heardMs = 800
const requestMs = 2_000

async function timed<T>(work: Promise<T>): Promise<{ ms: number; result: PromiseSettledResult<T> }> {
  const startedAt = performance.now()
  const [result] = await Promise.allSettled([work])
  return { ms: performance.now() - startedAt, result: result! }
}

async function opened(sizes: { reads?: number; transactions?: number } = {}) {
  const hole = await blackHole(url!)
  const database = openPostgres(hole.url, { reads: 1, transactions: 1, ...sizes, deadlines: { statementMs } })
  whenFileEnds(() => database.close())
  return { hole, database }
}

const one = (database: Database, n: number) => database.query<{ n: number }>('select $1::int as n', [n])

describe.skipIf(!url)('a silent database', () => {
  test('a statement fails in time, and its late answer is nobody else’s', async () => {
    const { hole, database } = await opened()
    for (let times = 0; times < 3; times += 1) {
      expect(await one(database, times)).toEqual([{ n: times }])
      hole.silence()
      const asked = await Promise.all([100, 101, 102].map((n) => timed(one(database, n))))
      for (const { ms, result } of asked) {
        expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseSilent) })
        // A read is asked once more, on a new connection.
        expect(ms).toBeLessThan(2 * heardMs + 1000)
      }
      hole.speak()
      const after = await Promise.all(Array.from({ length: 20 }, (_none, n) => one(database, n)))
      expect(after.flat()).toEqual(Array.from({ length: 20 }, (_none, n) => ({ n })))
    }
  })

  test('PostgreSQL ends what takes too long; the connection stays', async () => {
    const { database } = await opened()
    const pid = () => database.query('select pg_backend_pid() as pid where $1::int = 1', [1])
    const before = await pid()
    const slow = await timed(database.query('select pg_sleep($1::float8)', [30]))
    expect(slow.result).toMatchObject({ status: 'rejected', reason: { code: '57014' } })
    expect(slow.ms).toBeGreaterThan(statementMs - 100)
    expect(await pid()).toEqual(before)
  })

  test('a transaction whose statement timed out fails and leaves nothing; the next one works', async () => {
    const { hole, database } = await opened()
    await database.script('create table if not exists left_by_silence (n int)')
    for (const isStopped of [true, false]) {
      const lost = database.root.transaction().execute(async (tx) => {
        await sql`insert into left_by_silence values (1)`.execute(tx)
        if (isStopped) hole.silence()
        await sql`select pg_sleep(30)`.execute(tx)
      })
      const { ms, result } = await timed(lost)
      expect(result.status).toBe('rejected')
      expect(ms).toBeLessThan(heardMs + 1500)
      hole.speak()
      const kept = await database.root
        .transaction()
        .execute((tx) => sql<{ n: number }>`select count(*)::int as n from left_by_silence`.execute(tx))
      expect(kept.rows).toEqual([{ n: 0 }])
    }
    await database.script('drop table left_by_silence')
  })

  test('nobody waits for ever for a client of a transaction', async () => {
    const { database } = await opened()
    const release = Promise.withResolvers<void>()
    const holder = database.root.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      await release.promise
    })
    const { ms, result } = await timed(database.root.transaction().execute((tx) => sql`select 1`.execute(tx)))
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseSilent) })
    expect(ms).toBeLessThan(heardMs + 1000)
    release.resolve()
    await holder
  })

  test('long work has its time while the database is there for others, and none when it is not', async () => {
    const { hole, database } = await opened()
    const { patient } = database
    const slowly = (seconds: number) => patient.query('select 1 as done from pg_sleep($1::float8)', [seconds])
    const transaction = patient.root
      .transaction()
      .execute((tx) => sql`select 1 as done from pg_sleep(${2})`.execute(tx))
    const answers = await Promise.all([slowly(2), transaction, patient.script('select 1 as done')])
    expect([answers[0], answers[1].rows, answers[2]]).toEqual(Array(3).fill([{ done: 1 }]))

    const work = timed(slowly(60))
    await wait(100)
    hole.silence()
    const { ms, result } = await work
    expect(result).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseSilent) })
    expect(ms).toBeLessThan(heardMs + 5_000 + 1_500)
    hole.speak()
    expect(await patient.query('select $1::int as n', [1])).toEqual([{ n: 1 }])
  })

  test('a connection that nobody takes is given up in time', async () => {
    const { hole, database } = await opened()
    hole.silence()
    const { ms, result } = await timed(one(database, 1))
    expect(result.status).toBe('rejected')
    expect(ms).toBeLessThan(heardMs + 1000)
  })
})

describe.skipIf(!url)('few connections left', () => {
  test('what is asked goes to the clients that have one', async () => {
    const { hole, database } = await opened({ reads: 3, transactions: 3 })
    const inTransaction = (n: number) =>
      database.root.transaction().execute(async (tx) => {
        await wait(5)
        return (await sql<{ n: number }>`select ${n}::int as n`.execute(tx)).rows
      })
    await Promise.all([one(database, 1), inTransaction(1)])
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
    expect(await one(database, 7)).toEqual([{ n: 7 }])
  })

  test('without any connection the reason is told at once', async () => {
    const { hole, database } = await opened({ reads: 3, transactions: 3 })
    hole.allowOnly(0)
    const begun = database.root.transaction().execute((tx) => sql`select 1`.execute(tx))
    for (const { ms, result } of await Promise.all([timed(one(database, 1)), timed(begun)])) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: '53300' } })
      expect(ms).toBeLessThan(heardMs)
    }
    hole.allowOnly(100)
    expect(await one(database, 1)).toEqual([{ n: 1 }])
  })
})

describe.skipIf(!url)('the server, while its database is silent', () => {
  let made: Promise<{ app: TestApp; shop: Shop; hole: BlackHole }> | null = null
  /** On first use: the file is read without a server, too. */
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
    const { ms, result } = await timed(asked)
    expect(result).toMatchObject({
      status: 'fulfilled',
      value: { status: 503, body: { error: { code: 'unavailable' } } },
    })
    expect(ms).toBeLessThan(requestMs + 1000)
    const { headers } = (result as PromiseFulfilledResult<{ headers: Headers }>).value
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
  }

  test('reads and writes are answered in time, again and again, and work when it speaks again', async () => {
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
        const { ms, result } = await timed(Promise.resolve(app.fetch(request, { ip: '127.0.0.1' })))
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
    // The walk means something: most of them needed the database.
    expect(answers.filter(({ answer }) => answer.status === 503).length).toBeGreaterThan(addresses.length / 3)
    // Pages of shops may read why.
    const widgets = answers.filter(
      ({ path, answer }) => /^GET \/storefront/.test(path) && answer.status === 503,
    )
    expect(widgets.length).toBeGreaterThan(0)
    for (const { answer } of widgets) expect(answer.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('readiness comes back with the database', async () => {
    const { app, hole } = await server()
    hole.silence()
    await expect(app.ready()).rejects.toThrow()
    hole.speak()
    await expect.poll(() => app.ready().catch(() => false)).toBe(true)
    const metrics = await app.fetch(new Request('http://localhost/metrics'), { ip: '127.0.0.1' })
    expect(await metrics.text()).toContain('\ndatabase_up 1\n')
  })
})

describe('the time of a request', () => {
  test('what takes too long is told once; who still sends, and who was allowed to, is not late', async () => {
    const deadline = new Deadline(200)
    whenFileEnds(() => deadline.close())
    const told: string[] = []
    let bytes = 0
    deadline.begin(
      () => 0,
      () => told.push('slow'),
    )
    const sending = deadline.begin(
      () => ++bytes,
      () => told.push('sending'),
    )
    const allowed = deadline.begin(
      () => 0,
      () => told.push('allowed'),
    )
    allowed.allow(5_000)
    const quick = deadline.begin(
      () => 0,
      () => told.push('quick'),
    )
    expect(quick.end()).toBe(true)
    await wait(700)
    expect(told).toEqual(['slow'])
    expect([sending.end(), allowed.end()]).toEqual([true, true])
  })

  test('what comes within its time is answered, what does not is a failure', async () => {
    expect(await withinMs(1000, Promise.resolve(1))).toBe(1)
    await expect(withinMs(20, new Promise(() => {}))).rejects.toThrow('within 20 ms')
  })
})
