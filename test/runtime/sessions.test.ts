/** Session settings of connections to a PostgreSQL server, and their caches of statements. */

import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { CompiledQuery } from 'kysely'
import { describe, expect, test } from 'vitest'
import { openPostgres } from '#db/open'
import { PostgresPool } from '#db/postgres/pool'
import { prepared } from '#runtime/database/query'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { runs } from '#test/support/suite'

// A separate server: all its connections are closed now and then.
const { database: own, url } = await freshDatabase()
whenFileEnds(() => own.close())

function openPool(exclusive: number, { isPooled = false } = {}): PostgresPool {
  const opened = new PostgresPool(url!, { reads: 1, exclusive, isPooled })
  whenFileEnds(() => opened.close())
  return opened
}

const names = [
  'plan_cache_mode',
  'enable_seqscan',
  'enable_bitmapscan',
  'max_parallel_workers_per_gather',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
]
const settingsQuery = `select concat_ws(' ', ${names.map((name) => `current_setting('${name}')`).join(', ')}) as settings
  where $1::int = 1`

describe.skipIf(!url)('a connection for transactions', () => {
  test('has the settings of its current use, whatever it was used for before, and after a loss', async () => {
    const database = openPostgres(url!, { reads: 1, transactions: 2, deadlines: { statementMs: 7000 } })
    whenFileEnds(() => database.close())
    const settingsIn = async (rows: Promise<readonly unknown[]>): Promise<string> =>
      ((await rows)[0] as { settings: string }).settings
    const inside = (root: typeof database.root): Promise<readonly unknown[]> =>
      root
        .transaction()
        .execute(async (tx) => (await tx.executeQuery(CompiledQuery.raw(settingsQuery, [1]))).rows)
    const asked = {
      request: () => settingsIn(inside(database.root)),
      long: () => settingsIn(inside(database.longRunning.root)),
      anew: () => settingsIn(database.query(settingsQuery, [1], 'each-time')),
      apart: () => settingsIn(database.query(settingsQuery, [1], 'apart')),
    }
    const [{ settings: parallel }] = (await database.query<{ settings: string }>(
      `select current_setting('max_parallel_workers_per_gather') as settings where $1::int = 1`,
      [1],
    )) as [{ settings: string }]
    const wanted = {
      request: `auto off on ${parallel} 7s 14s`,
      long: `force_custom_plan on on ${parallel} 1h 2h`,
      anew: `force_custom_plan on on ${parallel} 7s 14s`,
      // A cluster keeps no plans.
      apart: (await database.isDistributed())
        ? `force_custom_plan on on ${parallel} 7s 14s`
        : 'force_generic_plan off off 0 7s 14s',
    }
    const way = fc.constantFrom(...(Object.keys(asked) as (keyof typeof asked)[]))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ways: fc.array(way, { maxLength: 5 }), loses: fc.boolean() }), { maxLength: 6 }),
        async (steps) => {
          for (const { ways, loses } of steps) {
            const outcome = await Promise.all(ways.map((each) => asked[each]()))
            expect(outcome).toEqual(ways.map((each) => wanted[each]))
            if (!loses) continue
            await database.query(
              `select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and pid <> pg_backend_pid() and $1::int = 1`,
              [1],
            )
            // A statement that is sent before the loss is noticed fails with it.
            const both = () => Promise.allSettled([asked.request(), asked.request()])
            await expect
              .poll(async () => (await both()).map(({ status }) => status))
              .toEqual(['fulfilled', 'fulfilled'])
          }
        },
      ),
      runs(30),
    )
  })

  test('work that is cancelled or ended at any moment has its settings or fails, and blocks nobody', async () => {
    const database = openPostgres(url!, { reads: 1, transactions: 2, deadlines: { statementMs: 7000 } })
    const killer = openPool(1)
    whenFileEnds(() => database.close())
    const timeout = `select current_setting('statement_timeout') as ms where $1::int = 1`
    const inside = async (root: typeof database.root): Promise<unknown> => {
      const work = (tx: typeof root) => tx.executeQuery<{ ms: string }>(CompiledQuery.raw(timeout, [1]))
      return (await root.transaction().execute(work)).rows[0]?.ms
    }
    const alone = async (plan: 'apart' | 'each-time'): Promise<unknown> =>
      (await database.query<{ ms: string }>(timeout, [1], plan))[0]?.ms
    const ways = [
      () => inside(database.root).then((ms) => ['7s', ms]),
      () => inside(database.longRunning.root).then((ms) => ['1h', ms]),
      () => alone('apart').then((ms) => ['7s', ms]),
      () => alone('each-time').then((ms) => ['7s', ms]),
    ]
    let [ran, isOver] = [0, false]
    const outcome = new Set<string>()
    const callers = Array.from({ length: 6 }, async (_none, at) => {
      for (let n = at; !isOver; n += 1) {
        const answer = await ways[n % ways.length]!().catch(() => null)
        if (answer === null) continue
        ran += 1
        outcome.add(answer.join(' '))
      }
    })
    for (let n = 0; n < 150 || ran < 100; n += 1) {
      const how = n % 3 === 0 ? 'pg_terminate_backend' : 'pg_cancel_backend'
      await killer.query(
        `select ${how}(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and $1::int = 1`,
        [1],
      )
      // Also during the setup of a new connection, which takes longer on a busy machine.
      await wait(n % 40)
    }
    isOver = true
    await Promise.all(callers)
    expect([...outcome].sort()).toEqual(['1h 1h', '7s 7s'])
    expect(database.load()).toMatchObject({ busy: 0, waiting: 0 })
  })

  test('is not the connection of a script, whatever that has set', async () => {
    const db = openPool(1)
    await db.script(`set statement_timeout = 50`)
    const connection = await db.take()
    expect(await connection.run(`select current_setting('statement_timeout') as ms`, [])).toMatchObject([
      { ms: '15s' },
    ])
    db.give(connection)
  })

  test('serves waiting callers, also if no other connection can be opened', async () => {
    const db = openPool(2)
    const [first, second] = [await db.take(), await db.take()]
    const waiting = db.take('long')
    const name = new URL(url!).pathname.slice(1)
    const allow = (may: boolean) =>
      own.query(`update pg_database set datallowconn = ${may} where datname = $1`, [name])
    await allow(false)
    first.isSuspect = true
    db.give(first)
    db.give(second)
    expect(await waiting).toBe(second)
    await allow(true)
    db.give(second)
  })

  test('does not let a request wait longer behind a waiting job', async () => {
    const db = new PostgresPool(url!, { reads: 1, exclusive: 1, deadlines: { statementMs: 300 } })
    whenFileEnds(() => db.close())
    const held = await db.take()
    const job = db.take('long')
    await expect(db.take()).rejects.toThrow('became free in time')
    db.give(held)
    db.give(await job)
  })

  test('slow statements block nobody who shares a connection', async () => {
    const db = openPool(1)
    const ended: string[] = []
    const note = (name: string) => () => ended.push(name)
    await Promise.all([
      db.query('select pg_sleep($1::float8)', [0.3], 'apart').then(note('apart')),
      db.query('select $1::int', [1], 'once').then(note('once')),
      db.query('select $1::int', [1]).then(note('usual')),
    ])
    expect(ended.at(-1)).toBe('apart')
  })
})

test.skipIf(!url)('only writes that may be lost do not wait for the disk', async () => {
  // Test servers wait for none.
  await own.script(`alter database "${new URL(url!).pathname.slice(1)}" set synchronous_commit = on`)
  const database = openPostgres(url!, { reads: 2, transactions: 1 })
  whenFileEnds(() => database.close())
  const asked = `select current_setting('synchronous_commit') as waits where $1::int = 1`
  type Row = { waits: string }
  const inside = async (root: typeof database.root): Promise<Row[]> =>
    (await root.transaction().execute((tx) => tx.executeQuery<Row>(CompiledQuery.raw(asked, [1])))).rows
  const outcome: Record<string, string> = {}
  for (const plan of ['once', 'noted', 'apart', 'each-time', undefined] as const) {
    const [row] = await database.query<Row>(asked, [1], plan)
    outcome[plan ?? 'usual'] = row!.waits
    const [slow] = await database.longRunning.query<Row>(asked, [1], plan === 'noted' ? undefined : plan)
    if (plan !== 'once') expect(slow!.waits).toBe('on')
  }
  expect(outcome).toEqual({ once: 'off', noted: 'off', apart: 'on', 'each-time': 'on', usual: 'on' })
  for (const root of [database.root, database.longRunning.root])
    expect((await inside(root))[0]!.waits).toBe('on')
})

test('a write with a plan whose connections do not wait for the disk is refused when it is compiled', async () => {
  for (const plan of ['once', 'apart'] as const) {
    const deleted = prepared(
      (db, values: { id: string }) => db.deleteFrom('inbox_tags').where('id', '=', values.id),
      {
        plan,
      },
    )
    expect(() => deleted({ extensions: {}, store: { id: 'a' } } as never, { id: 'b' })).toThrow(
      `no plan '${plan}'`,
    )
  }
})

describe.skipIf(!url)('the prepared statements of a connection', () => {
  const long = 'x'.repeat(10_000)
  const text = (n: number): string => `select $1::int as n, pg_backend_pid() as pid -- ${n} ${long}`
  type Row = { n: number; pid: number }
  const question = `select count(*)::int as n, pg_backend_pid() as pid from pg_prepared_statements where $1::int = 1`
  const kept = async (db: PostgresPool, plan?: 'apart'): Promise<number> =>
    (await db.query<Row>(question, [1], plan))[0]!.n

  test.each(['apart', undefined] as const)('are limited: %s', async (plan) => {
    const db = openPool(1)
    for (let n = 0; n < 120; n += 1) expect(await db.query(text(n), [n], plan)).toMatchObject([{ n }])
    expect(await kept(db, plan)).toBeLessThanOrEqual(51)
    expect(await db.query(text(7), [7], plan)).toMatchObject([{ n: 7 }])
  })

  test.each(['apart', undefined] as const)(
    'ends with a closed connection, once: %s',
    async (plan) => {
      const db = openPool(1)
      const pids = new Set<number>()
      for (let n = 0; n < 1050; n += 1) {
        const [row] = await db.query<Row>(text(n), [n], plan)
        pids.add(row!.pid)
      }
      const [before] = pids
      const pidNow = async (): Promise<number> => (await db.query<Row>(question, [1], plan))[0]!.pid
      await expect.poll(pidNow, { interval: 100 }).not.toBe(before)
      const after = await pidNow()
      for (let n = 0; n < 10; n += 1) await db.query(text(n), [n], plan)
      // These, the query itself, and those after the replacement.
      expect([11, 12]).toContain(await kept(db, plan))
      await wait(2500)
      expect(await pidNow()).toBe(after)
    },
    60_000,
  )

  test('count a text once for each combination of types', async () => {
    const db = openPool(1)
    const at = new Date('2026-03-11T02:30:00Z')
    const places = Array.from({ length: 9 }, (_none, n) => `$${n + 1}::timestamptz`).join(', ')
    const wide = `select coalesce(${places}) as n -- ${long}`
    for (let mask = 0; mask < 512; mask += 1) {
      await db.query(
        wide,
        Array.from({ length: 9 }, (_none, n) => ((mask >> n) & 1 ? at : null)),
      )
    }
    expect(await kept(db)).toBeLessThanOrEqual(51)
  })

  test('exclude long texts, and do not exist behind a pooler', async () => {
    const db = openPool(1)
    const great = `select $1::int as n -- ${'x'.repeat(60_000)}`
    for (let n = 0; n < 3; n += 1) await db.query(great, [n])
    expect(await kept(db)).toBe(1)
    const pooled = openPool(1, { isPooled: true })
    const pids = new Set<number>()
    for (let n = 0; n < 1100; n += 1) {
      const client = await pooled.take()
      const [row] = (await client.run(text(n), [n])) as Row[]
      pids.add(row!.pid)
      pooled.give(client)
    }
    expect(pids.size).toBe(1)
  })
})
