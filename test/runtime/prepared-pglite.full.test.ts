/**
 * The embedded database caches prepared statements: it answers as PGlite's own `query` does, the first time and later.
 */
import { PGlite, type Results, type Transaction } from '@electric-sql/pglite'
import { expect, inject, test } from 'vitest'
import { EmbeddedFailure, PreparingPglite } from '#db/embedded/pglite'
import { openSession } from '#db/embedded/session'
import { migratedSnapshot } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'

const parsers = { 20: Number, 1082: (value: string) => value }

/** The table of these tests, in a session without prepared statements. */
const clean = 'drop table if exists noted; create table noted (id int primary key, text text); deallocate all'

async function prepareSession<Session extends PGlite>(session: Session): Promise<Session> {
  whenFileEnds(() => session.close())
  await session.waitReady
  await session.exec(clean)
  return session
}

let first: Promise<PreparingPglite> | null = null
async function openSharedSession(): Promise<PreparingPglite> {
  first ??= migratedSnapshot().then((loadDataDir) =>
    prepareSession(new PreparingPglite({ parsers, loadDataDir })),
  )
  const session = await first
  await session.exec(clean)
  return session
}

const findPrepared = async (session: PGlite): Promise<string[]> =>
  (await session.exec('select statement from pg_prepared_statements order by prepare_time')).flatMap(
    ({ rows }) => rows.map((row) => String(row.statement)),
  )

const statements: readonly [string, unknown[]][] = [
  ['select 1 as one, null as nothing, $1::text as text', ["Zoë “x” \\ ' \u{1f600}"]],
  [
    'select $1::int as a, $2::bigint as b, $3::float8 as c, $4::numeric as d',
    [1, 9007199254740991, 0.1, '12.30'],
  ],
  ['select $1::bool as t, $2::bool as f, $3::bool as n', [true, false, null]],
  [
    'select $1::timestamptz as at, $2::date as day, $3::timestamp as wall',
    [new Date(0), '2026-11-20', '2026-11-20T10:00:00'],
  ],
  ['select $1::jsonb as object, $2::json as list, $3::jsonb as nothing', [{ a: [1, 'x'] }, [1, 2], null]],
  ['select $1::text[] as texts, $2::int[] as numbers, $3::uuid[] as ids', [['a', 'b,"c'], [1, 2], []]],
  ['select $1::bytea as bytes', [Uint8Array.of(0, 1, 255)]],
  ['select 1 as same, 2 as same', []],
  ['select n from generate_series(1, $1::int) n', [300]],
  ['select n from generate_series(1, 0) n', []],
  ['insert into noted (id, text) select n, $1 from generate_series(1, 3) n', ['x']],
  ['update noted set text = $1 where id > 1', ['y']],
  ['select * from noted order by id', []],
  ['delete from noted returning id', []],
  ['delete from noted', []],
  ['with gone as (delete from noted returning 1) select count(*) as count from gone', []],
  ["set application_name = 'somebody'", []],
  ['show application_name', []],
]
const failingStatements: readonly [string, unknown[]][] = [
  ['select 1 / $1::int as x', [0]],
  ['select $1::int as x', ['no number']],
  ['select nothing_like_it from noted where id = $1', [1]],
  ['selec $1', [1]],
  ['insert into noted (id) values ($1), ($1)', [1]],
]

type Session = Pick<PGlite, 'query'> | Transaction

async function outcome(session: Session, text: string, values: unknown[]): Promise<unknown> {
  try {
    const { rows, affectedRows, fields }: Results = await session.query(text, [...values], {
      rowMode: 'object',
    })
    return { rows, affectedRows, fields }
  } catch (error) {
    const { code, message, query, params } = error as Record<string, unknown>
    return { code, message, query, params }
  }
}

test.skipIf(!inject('snapshot'))(
  'answers and fails like PGlite, four times, in a transaction and outside',
  async () => {
    const ours = await openSharedSession()
    const plain = await prepareSession(new PGlite({ parsers, loadDataDir: await migratedSnapshot() }))
    for (let time = 1; time <= 4; time += 1) {
      for (const [text, values] of [...statements, ...failingStatements]) {
        expect(await outcome(ours, text, values), `${text}, ${time}`).toEqual(
          await outcome(plain, text, values),
        )
      }
      const both = [ours, plain].map((session) =>
        session.transaction(async (transaction) => {
          const answers: unknown[] = []
          for (const [text, values] of statements) answers.push(await outcome(transaction, text, values))
          return answers
        }),
      )
      expect(await both[0]).toEqual(await both[1])
    }
    const names = await findPrepared(ours)
    expect(names.sort()).toEqual(
      statements
        .map(([text]) => text)
        .concat('select 1 / $1::int as x', 'select $1::int as x', 'insert into noted (id) values ($1), ($1)')
        .sort(),
    )
    expect(await findPrepared(plain)).toEqual([])
  },
)

test.skipIf(!inject('snapshot'))(
  'an error rolls its transaction back, and the next one works with the same statement',
  async () => {
    const ours = await openSharedSession()
    const add = 'insert into noted (id) values ($1)'
    for (const id of [1, 2, 3]) await ours.query(add, [id])
    const failed = ours.transaction(async (transaction) => {
      await transaction.query(add, [4])
      await transaction.query(add, [1])
    })
    await expect(failed).rejects.toMatchObject({ code: '23505' })
    expect(ours.isInTransaction()).toBe(false)
    await ours.query(add, [4])
    expect((await ours.query('select count(*) as count from noted')).rows).toEqual([{ count: 4 }])
  },
)

test.skipIf(!inject('snapshot'))(
  'a dropped statement, or one whose table has changed, is prepared again',
  async () => {
    const ours = await openSharedSession()
    await ours.exec('alter table noted drop column text; insert into noted values (1)')
    const read = async () => (await ours.query('select * from noted')).rows
    for (const _ of [1, 2, 3]) expect(await read()).toEqual([{ id: 1 }])
    await ours.exec('alter table noted add column text text')
    expect(await read()).toEqual([{ id: 1, text: null }])
    for (const drop of ['deallocate all', 'discard all']) {
      await ours.exec(drop)
      expect(await findPrepared(ours)).toEqual([])
      for (const _ of [1, 2]) expect(await read()).toEqual([{ id: 1, text: null }])
      expect(await findPrepared(ours)).toEqual(['select * from noted'])
    }
    // Unnoticed: another client of the session.
    await ours.execProtocol(Uint8Array.of(0x51, 0, 0, 0, 19, ...Buffer.from('deallocate all\0')))
    expect(await read()).toEqual([{ id: 1, text: null }])
  },
)

test.skipIf(!inject('snapshot'))(
  'statements used once and long ones are not cached; of the rest the latest are',
  async () => {
    const ours = await openSharedSession()
    await ours.query('select 1 as once')
    const long = `select '${'x'.repeat(20_000)}' as long`
    for (const _ of [1, 2, 3]) await ours.query(long)
    expect(await findPrepared(ours)).toEqual([])
    for (let n = 0; n < 600; n += 1) {
      for (const _ of [1, 2]) await ours.query(`select ${n} as n`)
      await ours.query('select $1::int as used', [n])
    }
    const names = await findPrepared(ours)
    expect(names.length).toBeLessThanOrEqual(500)
    expect(names).toContain('select $1::int as used')
    expect(names).toContain('select 599 as n')
    expect(names).not.toContain('select 0 as n')
  },
)

test.skipIf(!inject('snapshot'))('a changed table fails one transaction and not the next ones', async () => {
  const ours = await openSharedSession()
  for (const _ of [1, 2, 3]) await ours.query('select * from noted')
  const inside = () =>
    ours.transaction(async (transaction) => (await transaction.query('select * from noted')).rows)
  await ours.exec('alter table noted add column more int')
  await expect(inside()).rejects.toMatchObject({ code: '0A000', query: 'select * from noted', params: [] })
  expect(await inside()).toEqual([])
  await ours.query('select * from noted')
  await ours.query('deallocate all')
  expect(await inside()).toEqual([])
  expect(await findPrepared(ours)).toEqual([])
})

test.skipIf(!inject('snapshot'))(
  'an error that only looks like a dropped statement is not retried',
  async () => {
    const ours = await openSharedSession()
    await ours.exec(`create sequence if not exists tries;
    create or replace function lost() returns int language plpgsql as $$
      begin perform nextval('tries'); raise exception 'prepared statement "kept_1" does not exist' using errcode = '26000'; end $$`)
    for (const _ of [1, 2]) await ours.query('select $1::int as stays', [1])
    for (const time of [1, 2, 3]) {
      await expect(ours.query('select lost() + $1::int', [1])).rejects.toMatchObject({
        code: '26000',
        query: 'select lost() + $1::int',
        params: [1],
      })
      expect((await ours.query(`select last_value from tries -- ${time}`)).rows).toEqual([
        { last_value: time },
      ])
    }
    expect(await findPrepared(ours)).toEqual(['select $1::int as stays', 'select lost() + $1::int'])
    await ours.exec('drop function lost; drop sequence tries')
  },
)

test.skipIf(!inject('snapshot'))(
  'an invalid parameter is refused, and the next statement is intact',
  async () => {
    const ours = await openSharedSession()
    for (const time of [1, 2, 3]) {
      await expect(ours.query('select 1 as one', [time])).rejects.toMatchObject({
        code: '08P01',
        params: [time],
      })
      await expect(ours.query('select $1::int[] as list', [time])).rejects.toThrow(
        'A parameter cannot be sent as number',
      )
      await expect(ours.query('select $1::jsonb as json', [() => 1])).rejects.toThrow(
        'A parameter cannot be sent as',
      )
      expect((await ours.query('select $1::int[] as list', [[time]])).rows).toEqual([{ list: [time] }])
    }
  },
)

/** Deeper than any stack. */
const endless =
  'create function endless(n int) returns int language plpgsql as $$ begin return endless(n + 1); end $$'
const deep = (of: number): string => `select ${'('.repeat(of)}$1::int${' + 1)'.repeat(of)} as sum`

test.skipIf(!inject('snapshot'))('a too deep recursion is refused, and the session continues', async () => {
  const session = await openSession('memory://', await migratedSnapshot())
  whenFileEnds(() => session.close())
  await session.exec(endless)
  for (const _ of [1, 2, 3]) {
    await expect(session.query('select endless($1)', [1])).rejects.toMatchObject({ code: '54001' })
    await expect(session.query(deep(4000), [1])).rejects.toMatchObject({ code: '54001' })
    expect((await session.query(deep(100), [1])).rows).toEqual([{ sum: 101 }])
  }
})

test.skipIf(!inject('snapshot'))(
  'a failed PostgreSQL reports it for every statement, and is closed',
  async () => {
    const session = new PreparingPglite({ loadDataDir: await migratedSnapshot() })
    await session.waitReady
    await session.exec(`${endless}; create table if not exists noted (id int)`)
    await expect(session.query('select endless($1)', [1])).rejects.toThrow(EmbeddedFailure)
    await expect(session.query('select 1')).rejects.toThrow('start the server again')
    await expect(session.exec('insert into noted values (1)')).rejects.toThrow(EmbeddedFailure)
    await expect(session.transaction(() => Promise.resolve('done'))).rejects.toThrow(EmbeddedFailure)
    await session.close()
  },
)
