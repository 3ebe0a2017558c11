/** SQL and TypeScript round money to the same cents. */
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { roundInCurrency, roundToCents, takePercentage } from '#runtime/database/sql'
import * as money from '#runtime/values/money'
import { freshDatabase } from '#test/support/app'
import { currencies } from '#test/support/currencies'
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
    fc.asyncProperty(cases, currencies, async (all, currency) => {
      const { toMoney } = money.inCurrency(currency)
      const given = sql.join(
        all.map(([amount, millionths]) => sql`(${toMoney(amount)}::numeric, ${millionths / 1e4}::numeric)`),
      )
      const its = sql`${currency}::text`
      const { rows } = await sql<{ part: string; mean: string; whole: string }>`
        select ${takePercentage(sql`amount`, sql`percent`, its)}::text as part,
          ${roundInCurrency(sql`amount / 3`, its)}::text as mean, ${roundToCents(sql`amount`)}::text as whole
        from (values ${given}) as v(amount, percent)`.execute(database.root)
      for (const [i, [amount, millionths]] of all.entries()) {
        expect(rows[i]).toEqual({
          part: toMoney(money.applyPercentage(amount, millionths / 1e4)),
          mean: toMoney(money.divideHalfUp(amount, 3n)),
          whole: toMoney(amount),
        })
      }
    }),
    runs(10),
  )
})
