/**
 * A statement that fails in the middle of its rows does not affect the next one. postgres.js 3.4.9 continues counting:
 * the next one's rows would begin with holes.
 */
import fc from 'fast-check'
import { sql } from 'kysely'
import { describe, expect, inject, test } from 'vitest'
import type { Database } from '#db/database'
import { openPostgres } from '#db/open'
import { freshDatabase } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { runs } from '#test/support/suite'

interface Query {
  rows: number
  /** The row at which it divides by zero. */
  failsAt: number | null
  way: 'kept' | 'planned' | 'literal' | 'script' | 'transaction'
}

const queries: fc.Arbitrary<Query> = fc
  .record({
    rows: fc.nat(12),
    failsAt: fc.option(fc.nat(11)),
    way: fc.constantFrom<Query['way']>('kept', 'planned', 'literal', 'script', 'transaction'),
  })
  .map((each) => ({
    ...each,
    failsAt: each.failsAt !== null && each.failsAt < each.rows ? each.failsAt : null,
  }))

const text = (rows: string, failsAt: string): string =>
  `select i, 1 / (i - ${failsAt}) is null as x from generate_series(0, ${rows} - 1) i`
const bound = text('$1::int', '$2::int')

async function ask(database: Database, { rows, failsAt, way }: Query): Promise<unknown[]> {
  const values = [rows, failsAt ?? -1]
  const literal = text(String(rows), `(${failsAt ?? -1})`)
  switch (way) {
    case 'kept':
      return database.query(bound, values, 'once')
    case 'planned':
      return database.query(bound, values, 'each-time')
    case 'literal':
      return database.query(literal, [])
    case 'script':
      return database.script(`${literal}; select 'last' as last`)
    case 'transaction':
      return database.root.transaction().execute(async (tx) => {
        await sql`select 1`.execute(tx)
        return (await sql.raw(literal).execute(tx)).rows
      })
  }
}

/** Its rows as texts, or the code of its error. */
const expected = ({ rows, failsAt, way }: Query): string[] | string =>
  failsAt === null
    ? [
        ...Array.from({ length: rows }, (_, i) => JSON.stringify({ i, x: false })),
        ...(way === 'script' ? [JSON.stringify({ last: 'last' })] : []),
      ]
    : '22012'

const toOutcome = (of: PromiseSettledResult<unknown[]>): string[] | string =>
  of.status === 'fulfilled'
    ? Array.from(of.value, (row) => JSON.stringify(row) ?? 'an empty place')
    : (of.reason as { code: string }).code

describe('after a statement that failed in the middle of its rows', () => {
  test('every other one gets its own complete rows, sequential and concurrent', async () => {
    const { database: fresh, url } = await freshDatabase()
    const few = { reads: 1, transactions: 1 }
    const database =
      url === null || process.env.TEST_DATABASE_POOLER !== undefined ? fresh : openPostgres(url, few)
    whenFileEnds(() => database.close())
    await fc.assert(
      fc.asyncProperty(
        fc.array(queries, { minLength: 2, maxLength: 12 }),
        fc.boolean(),
        async (all, isAtOnce) => {
          const asking = () => all.map((each) => () => ask(database, each))
          const found: PromiseSettledResult<unknown[]>[] = []
          if (isAtOnce) found.push(...(await Promise.allSettled(asking().map((each) => each()))))
          else for (const each of asking()) found.push(...(await Promise.allSettled([each()])))
          expect(found.map(toOutcome)).toEqual(all.map(expected))
        },
      ),
      { ...runs(60), verbose: 1 },
    )
  })

  test('the original case of postgres.js works', async ({ skip }) => {
    if (!inject('postgresUrl')) skip('on a server')
    const database = openPostgres(inject('postgresUrl')!, { reads: 1, transactions: 1 })
    whenFileEnds(() => database.close())
    await expect(database.query(bound, [5, 3])).rejects.toMatchObject({ code: '22012' })
    const rows = await database.query('select $1::int as one', [1])
    expect(Object.keys(rows)).toEqual(['0'])
    expect(rows[0]).toEqual({ one: 1 })
  })
})
