/** PostgreSQL through PgBouncer: borrowed connections are returned clean, and unusable configurations are refused. */
import { sql } from 'kysely'
import postgres from 'postgres'
import { describe, expect, inject, test } from 'vitest'
import type { ServerDatabase } from '#db/database'
import { openPostgres } from '#db/open'
import { hasPgbouncer, type PgbouncerOptions, throwawayPgbouncer } from '#scripts/cli/pgbouncer'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { withDatabase } from '#test/support/cluster'

const server = inject('postgresUrl')
const defaultSettings = [
  'timezone',
  'bytea_output',
  'jit',
  'statement_timeout',
  'idle_in_transaction_session_timeout',
]

async function pooler(options: Partial<PgbouncerOptions> = {}) {
  const started = await throwawayPgbouncer(server!, { mode: 'transaction', poolSize: 12, ...options })
  whenFileEnds(() => started.stop())
  return started
}

function openThrough(url: string, options: Parameters<typeof openPostgres>[1] = {}): ServerDatabase {
  const database = openPostgres(url, { reads: 2, transactions: 4, isPooled: true, ...options })
  whenFileEnds(() => database.close())
  return database
}

/** Session state of a connection, read by another client: pairs of the current and PostgreSQL's initial value. */
const sessionStateQuery = `select current_setting('statement_timeout') || current_setting('idle_in_transaction_session_timeout')
  || current_setting('jit') || current_setting('plan_cache_mode') || current_setting('enable_seqscan') as settings,
  (select count(*)::int from pg_prepared_statements) as prepared, pg_backend_pid() as pid`

describe.skipIf(!server || !hasPgbouncer)('through PgBouncer', () => {
  for (const mode of ['transaction', 'session'] as const) {
    test(`${mode}: what is asked has its settings, however it is asked`, async () => {
      const database = openThrough((await pooler({ mode })).url, { deadlines: { statementMs: 2000 } })
      await database.verify()
      const shown = `select current_setting('statement_timeout') as ms, current_setting('jit') as jit,
        current_setting('TimeZone') as zone, current_setting('enable_seqscan') as scans`
      const short = { ms: '2s', jit: 'off', zone: 'UTC', scans: 'on' }
      const long = { ...short, ms: '1h' }
      const alongAnIndex = { ...short, scans: 'off' }
      expect(await database.query(`${shown} where $1::int = 1`, [1])).toEqual([short])
      expect(await database.query(shown, [])).toEqual([short])
      expect(await database.query(`${shown} where $1::int = 1`, [1], 'once')).toEqual([alongAnIndex])
      expect(await database.longRunning.query(`${shown} where $1::int = 1`, [1], 'each-time')).toEqual([long])
      const inside = (of: ServerDatabase['root']) =>
        of.transaction().execute(async (tx) => (await sql.raw(shown).execute(tx)).rows)
      expect(await inside(database.root)).toEqual([short])
      expect(await inside(database.longRunning.root)).toEqual([long])
      // They are enforced, too.
      const slept = await Promise.allSettled([
        database.query('select pg_sleep($1::float8)', [9]),
        database.root.transaction().execute((tx) => sql`select pg_sleep(9)`.execute(tx)),
        database.longRunning.query('select pg_sleep($1::float8)::text as slept', [3]),
      ])
      expect(slept).toMatchObject([
        { status: 'rejected', reason: { code: '57014' } },
        { status: 'rejected', reason: { code: '57014' } },
        { status: 'fulfilled', value: [{ slept: '' }] },
      ])
    })
  }

  test('values of every kind, and concurrent statements: each has its own answer, a failed one fails alone', async () => {
    const database = openThrough((await pooler({ poolSize: 2 })).url)
    const at = new Date('2026-03-11T02:30:00.123Z')
    const values = [
      "it's ç",
      -7,
      9007199254740991,
      { deep: [1, null] },
      ['a', 'b,"c'],
      at,
      true,
      '12.30',
      null,
    ]
    const kinds = 'text int bigint jsonb text[] timestamptz boolean numeric text'.split(' ')
    const columns = kinds.map((kind, n) => `$${n + 1}::${kind} as c${n}`)
    const [row] = await database.query<object>(`select ${columns}`, values)
    expect(Object.values(row!)).toEqual(values)
    const answers = await Promise.allSettled(
      Array.from({ length: 300 }, (_none, n) =>
        database.query('select 100 / ($1::int % 50) as zero, $1::int as n, $2::timestamptz as at', [n, at]),
      ),
    )
    for (const [n, answer] of answers.entries()) {
      if (n % 50 === 0) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
      else expect(answer).toMatchObject({ status: 'fulfilled', value: [{ n, at }] })
    }
  })

  test('a statement is atomic: a failure at its end is reported', async () => {
    // In a separate database: an index is only rebuilt once no older transaction of the same one is open.
    const { url: own } = await freshDatabase()
    const database = openThrough(withDatabase((await pooler()).url, new URL(own!).pathname.slice(1)))
    await database.script(
      'create table pooled_rows (n int, constraint once unique (n) deferrable initially deferred)',
    )
    const twice = database.query('insert into pooled_rows values ($1::int), ($1::int)', [1])
    await expect(twice).rejects.toMatchObject({ code: '23505' })
    expect(await database.query('select n from pooled_rows', [])).toEqual([])
    await database.script('reindex table concurrently pooled_rows')
    await expect(database.script('insert into pooled_rows values (2); select 1 / 0')).rejects.toThrow('zero')
    expect(await database.query('select n from pooled_rows', [])).toEqual([])
    await database.script('drop table pooled_rows')
  })

  test('nothing of ours is left on a connection that another client gets', async () => {
    const { url } = await pooler({ poolSize: 4 })
    const database = openThrough(url)
    await database.verify()
    const others = Array.from({ length: 3 }, () =>
      postgres(url, { max: 1, prepare: false, fetch_types: false }),
    )
    const fresh = postgres(server!, { max: 1 })
    whenFileEnds(() => Promise.all([...others, fresh].map((each) => each.end())))
    const [untouched] = await fresh.unsafe(sessionStateQuery)
    const seen = new Set<number>()
    const look = async (): Promise<void> => {
      for (const other of others) {
        const [found] = await other.unsafe(sessionStateQuery)
        expect(found).toMatchObject({ settings: untouched!.settings, prepared: 0 })
        seen.add(found!.pid)
      }
    }
    const work = async (): Promise<void> => {
      for (let times = 0; times < 40; times += 1) {
        await Promise.all([
          database.query('select $1::int as n', [times], 'once'),
          database.query('select 1 / $1::int', [times % 2]).catch(() => undefined), // every other one
          database.longRunning.root.transaction().execute((tx) => sql`select ${times}::int`.execute(tx)),
          database.script('select 1'),
          look(),
        ])
      }
    }
    await work()
    expect(seen.size).toBeGreaterThan(0)
  })

  test('a read behind a slow one is answered on another connection', async () => {
    const database = openThrough((await pooler()).url, { reads: 1 })
    const order: string[] = []
    const slow = database.query('select pg_sleep($1::float8)', [4]).then(() => order.push('slow'))
    for (const plan of [undefined, 'once'] as const) {
      expect(await database.query('select $1::int as n', [7], plan)).toEqual([{ n: 7 }])
      order.push('read')
    }
    await slow
    expect(order).toEqual(['read', 'read', 'slow'])
  })

  test('one connection for everything, in transactions: every caller gets it', async () => {
    const database = openThrough((await pooler({ poolSize: 1 })).url)
    await database.verify()
    const turns = Array.from({ length: 100 }, (_none, n) =>
      n % 3 === 0
        ? database.root.transaction().execute(async (tx) => {
            await sql`select ${n}::int`.execute(tx)
            return (await sql<{ n: number }>`select ${n}::int as n`.execute(tx)).rows
          })
        : database.query<{ n: number }>('select $1::int as n', [n]),
    )
    expect((await Promise.all(turns)).flat().map(({ n }) => n)).toEqual(turns.map((_none, n) => n))
  })

  test('one connection for everything: a transaction needs no second one, while many wait for its own', async () => {
    const { url: own } = await freshDatabase()
    const { url } = await pooler({ poolSize: 1 })
    const database = openThrough(withDatabase(url, new URL(own!).pathname.slice(1)))
    const others: unknown[] = []
    // The first write of an indexed table: nobody has checked yet whether it is a cluster.
    const wrote = database.root.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      others.push(database.isDistributed(), database.query('select $1::int', [1]))
      return tx.deleteFrom('api_keys').returning('id').execute()
    })
    expect(await wrote).toEqual([])
    expect(await Promise.all(others)).toHaveLength(2)
  })

  test('statements in flight fail when the pooler ends; everything works when it is back', async () => {
    const bouncer = await pooler()
    const database = openThrough(bouncer.url)
    await database.verify()
    const lost = Promise.allSettled([
      // Not a read: that would be repeated, and may find the pooler there.
      database.query('with slept as (select pg_sleep($1::float8)) select from slept', [5]),
      database.root.transaction().execute(async (tx) => {
        await sql`create table left_by_pooler (n int)`.execute(tx)
        await sql`select pg_sleep(5)`.execute(tx)
      }),
      database.query('select $1::int', [1]).then(() => bouncer.restart()),
    ])
    expect((await lost).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled'])
    expect(await database.query(`select to_regclass('left_by_pooler') as name`, [])).toEqual([{ name: null }])
    expect(await database.script('select 1 as one')).toEqual([{ one: 1 }])
  })

  describe('is refused with one sentence', () => {
    const unsaid = /leads to a pooler of connections.*DATABASE_POOLER=on/
    const everything = [...defaultSettings, 'plan_cache_mode', 'enable_seqscan', 'enable_bitmapscan']
    for (const mode of ['transaction', 'session'] as const) {
      test(`${mode}, where nobody said that it is there`, async () => {
        const { url } = await pooler({ mode })
        const database = openPostgres(url, { reads: 1, transactions: 1 })
        whenFileEnds(() => database.close())
        await expect(database.verify()).rejects.toThrow(unsaid)
      })

      test(`${mode}, where it leaves out whatever it is told`, async () => {
        for (const more of [[], ['max_parallel_workers_per_gather', 'merchant_api.session']]) {
          const { url } = await pooler({ mode, ignoring: [...everything, ...more] })
          const database = openPostgres(url, { reads: 1, transactions: 1 })
          whenFileEnds(() => database.close())
          await expect(database.verify()).rejects.toThrow(unsaid)
        }
      })
    }

    test('also if the server has the same settings', async () => {
      const { url: own, database: direct } = await freshDatabase()
      const name = new URL(own!).pathname.slice(1)
      const same = { statement_timeout: '15000', jit: 'off', timezone: 'UTC' }
      for (const [setting, value] of Object.entries(same)) {
        await direct.script(`alter database ${name} set ${setting} = '${value}'`)
      }
      const { url } = await pooler({ ignoring: [...everything, 'max_parallel_workers_per_gather'] })
      const marked = openPostgres(withDatabase(url, name), { reads: 1, transactions: 1 })
      whenFileEnds(() => marked.close())
      await expect(marked.verify()).rejects.toThrow(unsaid)
    })

    test('statement mode', async () => {
      const database = openThrough((await pooler({ mode: 'statement' })).url)
      await expect(database.verify()).rejects.toThrow('pool_mode must be transaction or session')
    })

    test('session mode with fewer connections than are opened', async () => {
      const database = openThrough((await pooler({ mode: 'session', poolSize: 5 })).url)
      await expect(database.verify()).rejects.toThrow(
        /not answer on 9 connections; in session mode its default_pool_size/,
      )
    })
  })

  test('DATABASE_POOLER=on without a pooler is no error', async () => {
    const database = openThrough(server!)
    await database.verify()
    expect(await database.query('select $1::int as n', [1], 'once')).toEqual([{ n: 1 }])
  })
})
