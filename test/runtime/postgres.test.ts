/**
 * PostgreSQL by postgres.js: values, errors, and lost connections. Must pass on every supported version
 * (`with-postgres --bin`).
 */

import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { CompiledQuery, sql, type Transaction } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { ConnectionLost } from '#db/deadlines'
import { openPostgres } from '#db/open'
import { PostgresPool } from '#db/postgres/pool'
import { buildTypes } from '#db/postgres/values'
import type { Tables } from '#db/tables'
import { freshDatabase } from '#test/support/app'
import { blackHole } from '#test/support/black-hole'
import { whenFileEnds } from '#test/support/closing'
import { runs } from '#test/support/suite'

const url = inject('postgresUrl')
/** Not repeated after a lost connection: it does not begin like a read. */
const sleepQuery = 'with slept as (select pg_sleep($1::float8)) select from slept'

function openPool(reads = 2): PostgresPool {
  const opened = new PostgresPool(url!, { reads, exclusive: 2 })
  whenFileEnds(() => opened.close())
  return opened
}

describe.skipIf(!url)('a PostgreSQL server', () => {
  test('values of every kind, and nulls in their place, are sent and received with and without a cached plan', async () => {
    const db = openPool()
    const text = `select $1::text as a, $2::int as b, $3::bigint as c, $4::jsonb as d, $5::text[] as e,
      $6::timestamptz as f, $7::bytea as g, $8::boolean as h, $9::numeric as i, $10::date as j, $11::uuid as k, $12::int as n`
    const at = new Date('2026-03-11T02:30:00.123Z')
    const values = [
      "it's ç 🎉",
      -7,
      9007199254740991,
      { deep: [1, { x: null }] },
      ['a', 'b,"c'],
      at,
      Buffer.from([0, 255, 10]),
      true,
      '12.30',
      '2026-02-28',
      '0199f9f0-0000-7000-8000-000000000001',
      1,
    ]
    const nulls = [...values.slice(0, -1).map(() => null), 1]
    for (const plan of ['once', 'apart', 'each-time', undefined] as const) {
      for (const given of [values, nulls, values]) {
        const [row] = await db.query<Record<string, unknown>>(text, given, plan)
        expect(Object.values(row!)).toEqual(given)
      }
    }
  })

  test('dates and bytes are parsed correctly, whatever form the database prefers', async () => {
    const { database: own, url: at } = await freshDatabase()
    const name = new URL(at!).pathname.slice(1)
    await own.script(`alter database ${name} set datestyle = 'SQL, DMY';
      alter database ${name} set bytea_output = 'escape'`)
    for (const isPooled of [false, true]) {
      const db = new PostgresPool(at!, { reads: 1, exclusive: 1, isPooled })
      whenFileEnds(() => db.close())
      const given = [new Date('2026-03-11T02:30:00Z'), '2026-03-11', Buffer.from([0, 255]), ['2026-03-11']]
      const kinds = 'select $1::timestamptz as a, $2::date as b, $3::bytea as c, $4::date[] as d'
      const [row] = await db.query<object>(kinds, given)
      expect(Object.values(row!)).toEqual(given)
    }
  })

  test('arrays of every kind in our tables are sent and received, with nulls, quotes and dimensions', async () => {
    const db = openPool()
    const at = '2026-03-11T02:30:00.123Z'
    const kinds: [string, readonly unknown[], (readonly unknown[])?][] = [
      ['text', ['', 'a', 'b,"c', 'NULL', '\\', '{}', ' ', "it's ç 🎉", null]],
      ['uuid', ['0199f9f0-0000-7000-8000-000000000001', null]],
      ['smallint', [1, null, -3]],
      ['integer', [1, null, -3]],
      ['bigint', [9007199254740991, null]],
      ['real', [1.5, null]],
      ['float8', [1.1, null]],
      ['numeric', ['12.30', null]],
      ['boolean', ['true', 'f', null], [true, false, null]],
      ['date', ['2026-02-28', null]],
      ['timestamptz', [at, null], [new Date(at), null]],
      ['jsonb', ['{"a":[1,null,"\\""]}', '"x"', null], [{ a: [1, null, '"'] }, 'x', null]],
      ['bytea', ['\\x00ff', null], [Buffer.from([0, 255]), null]],
      ['text', []],
      [
        'integer',
        [
          [1, 2],
          [3, 4],
        ],
      ],
    ]
    for (const plan of ['once', 'each-time', undefined] as const) {
      for (const [kind, given, expected = given] of kinds) {
        const [row] = await db.query<{ list: unknown }>(`select $1::${kind}[] as list`, [given], plan)
        expect(row!.list, kind).toEqual(expected)
      }
      const [row] = await db.query<{ list: unknown }>("select '[2:3]={1,2}'::int[] as list where $1 = 1", [1])
      expect(row!.list).toEqual([1, 2])
    }
  })

  test('arrays of any texts are received unchanged', async () => {
    const db = openPool()
    const text = fc.option(fc.string({ unit: 'grapheme' }).map((each) => each.replaceAll('\0', '')))
    const odd = fc.constantFrom('', 'null', 'NULL', '\\', '"', '{', '}', ',', ' ', '\n', '\\"', '\\\\')
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(text, odd), { maxLength: 12 }), async (list) => {
        const [row] = await db.query<{ list: unknown; kept: unknown }>(
          'select $1::text[] as list, array(select jsonb_build_object($$t$$, x) from unnest($1::text[]) x) as kept',
          [list],
        )
        expect(row).toEqual({ list, kept: list.map((t) => ({ t })) })
      }),
      runs(200),
    )
  })

  test('no column of any table is an array that would arrive as text', async () => {
    const { database: db } = await freshDatabase()
    const columns = await db.query<{ column: string; type: number }>(
      `select distinct format('%I.%I.%I', n.nspname, r.relname, a.attname) as column, a.atttypid::int as type
        from pg_attribute a join pg_class r on r.oid = a.attrelid join pg_namespace n on n.oid = r.relnamespace
          join pg_type t on t.oid = a.atttypid
        where n.nspname !~ '^(pg_|information_schema|citus)' and t.typcategory = 'A' and not a.attisdropped
          and $1 = 1`,
      [1],
    )
    expect(columns.length).toBeGreaterThan(5)
    const known = Object.values(buildTypes(String)).flatMap(({ from }) => from)
    expect(columns.filter(({ type }) => !known.includes(type))).toEqual([])
  })

  test('a connection that is lost while it opens fails its statements, and no unawaited promise', async () => {
    const hole = await blackHole(url!)
    const unawaited: unknown[] = []
    const noted = (reason: unknown): unknown => unawaited.push(reason)
    process.on('unhandledRejection', noted)
    whenFileEnds(() => void process.off('unhandledRejection', noted))
    hole.endWhenReady()
    for (let times = 0; times < 5; times += 1) {
      const db = new PostgresPool(hole.url, { reads: 1, exclusive: 1 })
      const asked = [db.query('select $1::int', [1]), db.query('select 1', []), db.take()]
      expect((await Promise.allSettled(asked)).map(({ status }) => status)).not.toContain('fulfilled')
      await db.close()
    }
    await wait(100)
    expect(unawaited).toEqual([])
  })

  test('concurrent statements have their own answers; a failed one fails alone', async () => {
    const db = openPool()
    const answers = await Promise.allSettled(
      Array.from({ length: 500 }, (_none, n) =>
        db.query<{ n: number }>('select 100 / ($1::int % 50) as zero, $1::int as n', [n]),
      ),
    )
    for (const [n, answer] of answers.entries()) {
      if (n % 50 === 0) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
      else expect(answer).toMatchObject({ status: 'fulfilled', value: [{ n }] })
    }
  })

  test('planning depends on the kind of work, and ends with the transaction', async () => {
    const database = openPostgres(url!, { reads: 1, transactions: 1 })
    whenFileEnds(() => database.close())
    const shown = `select current_setting('plan_cache_mode') || ' ' || current_setting('enable_seqscan') as plans
      where $1::int = 1`
    const planned = async (asked: Promise<readonly unknown[]>): Promise<unknown> =>
      ((await asked)[0] as { plans: string }).plans
    const inside = (root: typeof database.root): Promise<readonly unknown[]> =>
      root.transaction().execute(async (tx) => (await tx.executeQuery(CompiledQuery.raw(shown, [1]))).rows)
    for (let times = 0; times < 2; times += 1) {
      expect(await planned(database.query(shown, [1]))).toBe('auto on')
      expect(await planned(database.query(shown, [1], 'once'))).toBe('force_generic_plan off')
      expect(await planned(inside(database.root))).toBe('auto off')
      // On the same connection.
      expect(await planned(database.query(shown, [1], 'each-time'))).toBe('force_custom_plan on')
      expect(await planned(database.query(shown, [1], 'apart'))).toBe('force_generic_plan off')
      expect(await planned(inside(database.longRunning.root))).toBe('force_custom_plan on')
    }
  })

  test("a request's transaction keeps a plan that also serves when the table has grown", async () => {
    const database = openPostgres(url!, { reads: 1, transactions: 1 })
    whenFileEnds(() => database.close())
    const table = `grown_${process.pid}`
    await database.script(
      `create table ${table} (store int, key int, note text, primary key (store, key)) with (autovacuum_enabled = false);
       insert into ${table} select 1, -n from generate_series(1, 3) n; analyze ${table}`,
    )
    whenFileEnds(() => database.script(`drop table ${table}`))
    const change = (tx: Transaction<Tables>): Promise<unknown> =>
      sql`update ${sql.table(table)} set note = ${'new'} where store = ${1} and key = ${7}`.execute(tx)
    for (let times = 0; times < 10; times += 1) await database.root.transaction().execute(change)
    await database.script(`insert into ${table} select 1, n from generate_series(1, 20000) n`)
    const [before, after] = await database.root.transaction().execute(async (tx) => {
      const scans = async () =>
        (
          await sql<{ whole: number; found: number }>`select seq_scan::int as whole, idx_scan::int as found
            from pg_stat_xact_user_tables where relname = ${table}`.execute(tx)
        ).rows[0]!
      await change(tx)
      const seen = await scans()
      await change(tx)
      return [seen, await scans()]
    })
    expect(after).toEqual({ whole: before.whole, found: before.found + 1 })
  })

  test("a job's statement does not wait behind a slow one while another connection is idle", async () => {
    const db = openPool()
    let isOver = false
    const slow = db.query('select pg_sleep(1)', [], undefined, 'long').then(() => {
      isOver = true
    })
    for (let n = 0; n < 4; n += 1) await db.query('select 1', [], undefined, 'long')
    expect(isOver).toBe(false)
    await slow
  })

  test('the number of affected rows is returned', async () => {
    const db = openPool(1)
    const rows = await db.query('select from generate_series(1, $1::int)', [3])
    expect([rows.length, rows.count]).toEqual([3, 3])
  })

  test('a connection that the server ends fails its statements; the next ones get a new one', async () => {
    const db = openPool(1)
    const killer = openPool(1)
    for (let times = 0; times < 3; times += 1) {
      const [backend] = await db.query<{ pid: number }>(
        'select pg_backend_pid() as pid where $1::int = 1',
        [1],
      )
      const slow = Array.from({ length: 5 }, () => db.query(sleepQuery, [30]))
      const ended = Promise.allSettled(slow)
      await wait(50)
      await killer.query('select pg_terminate_backend($1::int)', [backend!.pid])
      expect((await ended).map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
      const again = Array.from({ length: 20 }, (_none, n) => db.query('select $1::int as n', [n]))
      expect((await Promise.all(again)).flat()).toEqual(Array.from({ length: 20 }, (_none, n) => ({ n })))
    }
  })

  test('a transaction that loses its connection between two statements leaves nothing', async () => {
    const database = openPostgres(url!, { reads: 1, transactions: 1 })
    whenFileEnds(() => database.close())
    const lost = database.root.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
      await database.query('select pg_terminate_backend($1::int)', [rows[0]!.pid])
      await wait(100)
      await sql`create table left_behind (id int)`.execute(tx)
    })
    await expect(lost).rejects.toThrow('connection was lost')
    expect(await database.query("select to_regclass('left_behind') as name where $1::int = 1", [1])).toEqual([
      { name: null },
    ])
    // The client serves the next transaction.
    const next = database.root.transaction().execute((tx) => sql`select 1 as one`.execute(tx))
    expect((await next).rows).toEqual([{ one: 1 }])
  })

  test('an unsent statement of a lost connection is not sent later, outside of its transaction', async () => {
    const db = openPool(1)
    await db.script('create table sent_late (n int)')
    const client = await db.take()
    const [backend] = (await client.run('select pg_backend_pid() as pid', [])) as unknown as [{ pid: number }]
    // More than the library has in flight at a time: the rest waits.
    const all = [
      client.run(db.begin('request'), []),
      client.run('select pg_sleep($1::float8)', [30]),
      ...Array.from({ length: 300 }, (_none, n) => client.run('insert into sent_late values ($1::int)', [n])),
    ]
    const ended = Promise.allSettled(all)
    await wait(50)
    await db.query('select pg_terminate_backend($1::int)', [backend.pid])
    expect(new Set((await ended).slice(1).map(({ status }) => status))).toEqual(new Set(['rejected']))
    db.give(client)
    expect(await db.script('select count(*)::int as n from sent_late')).toEqual([{ n: 0 }])
    await db.script('drop table sent_late')
  })

  test('closing fails slow statements, and sends those behind them neither then nor on a new connection', async () => {
    const [db, other] = [new PostgresPool(url!, { reads: 1, exclusive: 1 }), openPool(1)]
    await other.script('create table sent_after_close (n int)')
    whenFileEnds(() => other.script('drop table sent_after_close'))
    const [pid, insert] = [
      'select pg_backend_pid() as pid where $1::int = 1',
      'with n as (insert into sent_after_close values ($1::int)) select',
    ]
    const [before] = await Promise.all([db.query(pid, [1]), db.query(insert, [0])])
    const client = await db.take()
    const held = client.run('select pg_sleep(30)', []).finally(() => db.give(client))
    // The library waits for the answer to a new text before it sends the next one.
    const done = Promise.all([db.query('select pg_sleep($1::float8)::text as s', [0.5]), db.query(pid, [1])])
    const failed = Promise.allSettled([db.query(sleepQuery, [30]), db.query(insert, [1]), held, db.take()])
    await wait(50)
    await db.close()
    expect(await done).toEqual([[{ s: '' }], before])
    expect((await failed).map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
    await expect(db.query(pid, [1])).rejects.toThrow(ConnectionLost)
    await wait(300)
    expect(await other.query('select n from sent_after_close where $1::int = 1', [1])).toEqual([{ n: 0 }])
  })

  test('a single read whose connection was lost is repeated once; a write is not', async () => {
    const [db, killer] = [openPool(1), openPool(1)]
    const [backend] = await db.query<{ pid: number }>('select pg_backend_pid() as pid where $1::int = 1', [1])
    const all = Promise.allSettled(
      Array.from({ length: 300 }, (_none, n) =>
        n === 0 ? db.query(sleepQuery, [30]) : db.query<{ n: number }>('select $1::int as n', [n]),
      ),
    )
    await wait(50)
    await killer.query('select pg_terminate_backend($1::int)', [backend!.pid])
    const answers = await all
    expect(answers[0]).toMatchObject({ status: 'rejected', reason: expect.any(ConnectionLost) })
    expect(answers.slice(1)).toMatchObject(
      Array.from({ length: 299 }, (_none, n) => ({ status: 'fulfilled', value: [{ n: n + 1 }] })),
    )
    // The second connection is lost as well.
    const pids: number[] = []
    const read = db.query('select pg_sleep($1::float8) as twice', [30])
    const lost = expect(read).rejects.toThrow(ConnectionLost)
    const written = expect(db.query('with n as (select $1::int) select from n', [1])).rejects.toThrow(
      ConnectionLost,
    )
    for (let times = 0; times < 2; times += 1) {
      await expect
        .poll(async () => {
          const found = await killer.query<{ pid: number }>(
            `select pid from pg_stat_activity where query = 'select pg_sleep($1::float8) as twice' and state = 'active'
             and pid <> all($1::int[])`,
            [pids],
          )
          pids.push(...found.map(({ pid }) => pid))
          return found.length
        })
        .toBe(1)
      await killer.query('select pg_terminate_backend($1::int)', [pids[times]!])
    }
    await Promise.all([lost, written])
  })

  test('an invalid parameter fails alone; statements before and behind it are answered', async () => {
    const db = openPool(1)
    const text = 'select $1::timestamptz as at, $2::jsonb as j'
    const [at, circle] = [new Date('2026-03-11T02:30:00Z'), {} as Record<string, unknown>]
    circle.itself = circle
    const bad: readonly (readonly unknown[])[] = [
      [new Date(Number.NaN), 1],
      [undefined, 1],
      [at, circle],
      [at, [circle]],
      [at, { big: 1n }],
      [Symbol('at'), 1],
      [at, () => 1],
      [[at], 1],
      [at, [1n]],
      [at, [true]],
      [at, [Buffer.from('bytes')]],
      Array(65_534).fill(1),
    ]
    for (const plan of ['once', 'each-time', undefined] as const) {
      for (const each of bad) {
        const answers = await Promise.allSettled([
          db.query(text, [at, { n: 1 }], plan),
          db.query(text, each, plan),
          db.query(text, [at, { n: 2 }], plan),
        ])
        expect(answers).toMatchObject([
          { status: 'fulfilled', value: [{ at, j: { n: 1 } }] },
          { status: 'rejected' },
          { status: 'fulfilled', value: [{ at, j: { n: 2 } }] },
        ])
      }
    }
  })

  test('many parameters, and large ones', async () => {
    const db = openPool(1)
    const many = Array.from({ length: 65_533 }, (_none, n) => n)
    const all = many.map((n) => `$${n + 1}::bigint`)
    const sum = `select sum(n)::bigint as sum from unnest(array[${all}]) n`
    expect(await db.query(sum, many, 'each-time')).toEqual([{ sum: (65_532 * 65_533) / 2 }])
    const large = 'ç🎉'.repeat(1_000_000)
    for (const plan of ['once', 'each-time'] as const) {
      const [row] = await db.query<{ text: string }>('select $1::text as text', [large], plan)
      expect(row!.text === large).toBe(true)
    }
  })

  test('a table that changes under a prepared statement changes its answer', async () => {
    const db = openPool(1)
    await db.script('create table changing (id int, name text); insert into changing values (1, $$a$$)')
    const ask = () => db.query('select * from changing where id = $1', [1], 'once')
    for (let times = 0; times < 7; times += 1) expect(await ask()).toEqual([{ id: 1, name: 'a' }])
    await db.script('alter table changing alter id type bigint, add column more text')
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(
      Array(3).fill([{ id: 1, name: 'a', more: null }]),
    )
    await db.script('drop table changing')
  })

  test('a host that answers is used among several; if none does, that is reported at once', async () => {
    const { port, pathname } = new URL(url!)
    const at = (hosts: string): PostgresPool => {
      const opened = new PostgresPool(`postgres://postgres@${hosts}${pathname}`, { reads: 1, exclusive: 1 })
      whenFileEnds(() => opened.close())
      return opened
    }
    const db = at(`127.0.0.1:1,127.0.0.1:${port}`)
    expect(await db.query('select $1::int as n', [1])).toEqual([{ n: 1 }])
    db.give(await db.take())
    await expect(at('127.0.0.1:1,127.0.0.1:2').query('select 1', [])).rejects.toMatchObject({
      code: 'ECONNREFUSED',
    })
    const hole = await blackHole(url!)
    hole.silence()
    const behind = at(`127.0.0.1:${new URL(hole.url).port},127.0.0.1:${port}`)
    expect(await behind.query('select $1::int as n', [1])).toEqual([{ n: 1 }])
    behind.give(await behind.take())
  })

  test('a table that changes under a prepared statement mixes up no answers', async () => {
    const [db, other] = [openPool(1), openPool(1)]
    await other.script(
      'create table changed_under (id int, name text); insert into changed_under values (1, $$a$$)',
    )
    whenFileEnds(() => other.script('drop table changed_under'))
    const whole = () => db.query('select * from changed_under where id = $1', [1])
    const slow = () => db.query('select $1::int as n, pg_sleep(0.5)::text as s', [0])
    const number = (n: number) => db.query('select $1::int as n', [n])
    await Promise.all([whole(), slow(), number(0)])
    await other.script('alter table changed_under add column more text')
    // The library prepares it again behind the slow one, and the numbers are sent before that.
    const asked = [whole(), slow()]
    await wait(100)
    const numbers = await Promise.all([1, 2, 3].map(number))
    expect(numbers).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
    expect(await Promise.all(asked)).toEqual([[{ id: 1, name: 'a', more: null }], [{ n: 0, s: '' }]])
  })

  test('a cancelled statement fails; its connection stays, and so do the statements behind it', async () => {
    const [db, other] = [openPool(1), openPool(1)]
    const pid = async () => (await db.query('select pg_backend_pid() as pid where $1::int = 1', [1]))[0]
    const before = (await pid()) as { pid: number }
    const cancelled = expect(db.query('select pg_sleep($1::float8)', [30])).rejects.toMatchObject({
      code: '57014',
    })
    const behind = db.query('select $1::int as n', [2])
    await wait(50)
    await other.query('select pg_cancel_backend($1::int)', [before.pid])
    await cancelled
    expect(await behind).toEqual([{ n: 2 }])
    expect(await pid()).toEqual(before)
  })

  test('notices are no answers; several statements in one text return all their rows', async () => {
    const db = openPool(1)
    const noisy = `do $$ begin for n in 1..200 loop raise warning 'heard % times', n; end loop; end $$`
    expect(
      await db.script(`${noisy}; select 1 as a; select 2 as b, 3 as c; create table if not exists said ();
      drop table said`),
    ).toEqual([{ a: 1 }, { b: 2, c: 3 }])
    await expect(db.script('select 1 as a; select 1 / 0; select 2')).rejects.toMatchObject({ code: '22012' })
    expect(await db.script('select 1 as after')).toEqual([{ after: 1 }])
  })

  test('a failed statement fails its transaction until it is rolled back', async () => {
    const database = openPostgres(url!, { reads: 1, transactions: 1 })
    whenFileEnds(() => database.close())
    const failing = database.root.transaction().execute(async (tx) => {
      await sql`select 1 / ${0}::int`.execute(tx).catch(() => undefined) // so that the commit is tried
      return sql`select 1`.execute(tx)
    })
    await expect(failing).rejects.toMatchObject({ code: '25P02' })
    const swallowed = database.root.transaction().execute(async (tx) => {
      await sql`select 1 / ${0}::int`.execute(tx).catch(() => undefined)
    })
    // the reason, and not only that it was rolled back
    await expect(swallowed).rejects.toMatchObject({ code: '22012' })
    expect(await database.query('select $1::int as n', [1])).toEqual([{ n: 1 }])
  })
})
