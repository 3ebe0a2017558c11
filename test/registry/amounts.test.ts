/** SQL and TypeScript round money to the same cents. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { roundToCents, takePercentage } from '#runtime/database/sql'
import * as money from '#runtime/values/money'
import { freshDatabase } from '#test/support/app'
import { runs } from '#test/support/suite'

const { database } = await freshDatabase()
afterAll(() => database.close())

test('SQL and the engine round to the same cents', async () => {
  const cents = fc.bigInt({ min: 0n, max: 99_999_999_999n })
  const cases = fc.array(fc.tuple(cents, fc.integer({ min: 0, max: 1_000_000 })), {
    minLength: 200,
    maxLength: 400,
  })
  await fc.assert(
    fc.asyncProperty(cases, async (all) => {
      const given = sql.join(
        all.map(
          ([amount, millionths]) => sql`(${money.toMoney(amount)}::numeric, ${millionths / 1e4}::numeric)`,
        ),
      )
      const { rows } = await sql<{ part: string; whole: string }>`
        select ${takePercentage(sql`amount`, sql`percent`)}::text as part, ${roundToCents(sql`amount`)}::text as whole
        from (values ${given}) as v(amount, percent)`.execute(database.root)
      for (const [i, [amount, millionths]] of all.entries()) {
        expect(rows[i]).toEqual({
          part: money.toMoney(money.applyPercentage(amount, millionths / 1e4)),
          whole: money.toMoney(amount),
        })
      }
    }),
    runs(10),
  )
})
