/** What connections to a PostgreSQL server are told, and how much each of them keeps. */
import fc from 'fast-check'
import { CompiledQuery } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { openPostgres } from '#db/open'
import { type PostgresPool, postgresPool } from '#db/postgres/pool'
import { whenFileEnds } from '#test/support/closing'

const url = inject('postgresUrl')

function pool(exclusive: number): PostgresPool {
  const opened = postgresPool(url!, { reads: 1, exclusive })
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
const shown = `select concat_ws(' ', ${names.map((name) => `current_setting('${name}')`).join(', ')}) as settings
  where $1::int = 1`

describe.skipIf(!url)('a connection for transactions', () => {
  test('goes the way that it is taken for, whichever it went before, and after it was lost', async () => {
    const database = openPostgres(url!, { reads: 1, transactions: 2, deadlines: { statementMs: 7000 } })
    whenFileEnds(() => database.close())
    const settingsIn = async (rows: Promise<readonly unknown[]>): Promise<string> =>
      ((await rows)[0] as { settings: string }).settings
    const inside = (root: typeof database.root): Promise<readonly unknown[]> =>
      root.transaction().execute(async (tx) => (await tx.executeQuery(CompiledQuery.raw(shown, [1]))).rows)
    const asked = {
      request: () => settingsIn(inside(database.root)),
      long: () => settingsIn(inside(database.patient.root)),
      anew: () => settingsIn(database.query(shown, [1], 'each-time')),
      apart: () => settingsIn(database.query(shown, [1], 'apart')),
    }
    const [{ settings: parallel }] = (await database.query<{ settings: string }>(
      `select current_setting('max_parallel_workers_per_gather') as settings where $1::int = 1`,
      [1],
    )) as [{ settings: string }]
    const wanted = {
      request: `auto off on ${parallel} 7s 14s`,
      long: `force_custom_plan on on ${parallel} 1h 2h`,
      anew: `force_custom_plan on on ${parallel} 7s 14s`,
      apart: 'force_generic_plan off off 0 7s 14s',
    }
    const way = fc.constantFrom(...(Object.keys(asked) as (keyof typeof asked)[]))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ways: fc.array(way, { maxLength: 5 }), loses: fc.boolean() }), { maxLength: 6 }),
        async (steps) => {
          for (const { ways, loses } of steps) {
            const told = await Promise.all(ways.map((each) => asked[each]()))
            expect(told).toEqual(ways.map((each) => wanted[each]))
            if (!loses) continue
            await database.query(
              `select pg_terminate_backend(pid) from pg_stat_activity
               where datname = current_database() and pid <> pg_backend_pid() and $1::int = 1`,
              [1],
            )
            // What is sent before the loss is noticed fails with it.
            const both = () => Promise.allSettled([asked.request(), asked.request()])
            await expect
              .poll(async () => (await both()).map(({ status }) => status))
              .toEqual(['fulfilled', 'fulfilled'])
          }
        },
      ),
      { numRuns: 30 },
    )
  }, 60_000)

  test('what may take long holds up nobody that shares a connection', async () => {
    const db = pool(1)
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

describe.skipIf(!url)('what a connection has prepared', () => {
  const long = 'x'.repeat(10_000)
  const text = (n: number): string => `select $1::int as n, pg_backend_pid() as pid -- ${n} ${long}`
  const kept = async (db: PostgresPool): Promise<number> => {
    const [row] = await db.script<{ n: number }>('select count(*)::int as n from pg_prepared_statements')
    return row!.n
  }

  test('is bounded, and what there is no room for is answered all the same', async () => {
    const db = pool(1)
    for (let n = 0; n < 120; n += 1) expect(await db.query(text(n), [n], 'apart')).toMatchObject([{ n }])
    expect(await kept(db)).toBeLessThanOrEqual(50)
    expect(await db.query(text(7), [7], 'apart')).toMatchObject([{ n: 7 }])
  })

  test('goes with the connection, which is left once it was asked often for more', async () => {
    const db = pool(1)
    const pids = new Set<number>()
    for (let n = 0; n < 1200; n += 1) {
      const [row] = await db.query<{ pid: number }>(text(n), [n], 'apart')
      pids.add(row!.pid)
    }
    expect(pids.size).toBe(2)
    expect(await kept(db)).toBeLessThanOrEqual(50)
  }, 60_000)
})
