/** The way to a PostgreSQL server: values, errors, and connections that are lost. */

import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import { openPostgres } from '#db/open'
import { type PostgresPool, postgresPool } from '#db/postgres/pool'
import { whenFileEnds } from '#test/support/closing'

const url = inject('postgresUrl')

function pool(reads = 2): PostgresPool {
  const opened = postgresPool(url!, { reads, exclusive: 2 })
  whenFileEnds(() => opened.close())
  return opened
}

describe.skipIf(!url)('statements', () => {
  test('values of every kind go there and back, with and without a kept plan', async () => {
    const db = pool()
    const text = `select $1::text as a, $2::int as b, $3::bigint as c, $4::jsonb as d, $5::text[] as e,
      $6::timestamptz as f, $7::bytea as g, $8::boolean as h, $9::numeric as i, $10::date as j, $11::text as k`
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
      null,
    ]
    for (const plan of ['once', 'each-time', undefined] as const) {
      for (let times = 0; times < 3; times += 1) {
        const [row] = await db.query<Record<string, unknown>>(text, values, plan)
        expect(Object.values(row!)).toEqual(values)
      }
    }
  })

  test('many at once, each with its own answer; a failed one fails alone', async () => {
    const db = pool()
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

  test('how many rows a change touched is told', async () => {
    const db = pool(1)
    const rows = await db.query('select from generate_series(1, $1::int)', [3])
    expect([rows.length, rows.count]).toEqual([3, 3])
  })

  test('a connection that the server ends fails what is on it; the next statements get a new one', async () => {
    const db = pool(1)
    const killer = pool(1)
    for (let times = 0; times < 3; times += 1) {
      const [backend] = await db.query<{ pid: number }>(
        'select pg_backend_pid() as pid where $1::int = 1',
        [1],
      )
      const slow = Array.from({ length: 5 }, () => db.query('select pg_sleep($1::float8)', [30]))
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
})
