/** PostgreSQL's `least` and `greatest` ignore nulls; these forms say what null means. */
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { greatest, greatestKnown, least, leastKnown } from '#runtime/database/sql'
import { freshDatabase } from '#test/support/app'

const { database } = await freshDatabase()
afterAll(() => database.close())

test('the result is null if any value is null, or ignores nulls, depending on the function', async () => {
  const one = sql`1::int`
  const two = sql`2::int`
  const none = sql`null::int`
  const { rows } =
    await sql`select ${least(two, one)} as a, ${least(one, none)} as b, ${greatest(one, two)} as c,
    ${greatest(none, two)} as d, ${leastKnown(none, two, one)} as e, ${greatestKnown(one, none)} as f,
    ${leastKnown(none, none)} as g`.execute(database.root)
  expect(rows).toEqual([{ a: 1, b: null, c: 2, d: null, e: 1, f: 1, g: null }])
})
