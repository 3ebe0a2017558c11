// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is checked
/** Money is reckoned in one place: the check, shown to bite, and that both engines come to the same cents. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { inCents, percentageOf } from '#runtime/database/sql'
import * as money from '#runtime/values/money'
import { amountFaults } from '#scripts/checks/values/amounts'
import { freshDatabase } from '#test/support/app'
import { runs } from '#test/support/suite'

const root = mkdtempSync(join(tmpdir(), 'amounts-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const { database } = await freshDatabase()
afterAll(() => database.close())

async function faultsOf(file: string, code: string): Promise<string[]> {
  for (const layer of ['db', 'runtime', 'operations']) {
    rmSync(join(root, layer), { recursive: true, force: true })
    mkdirSync(join(root, layer), { recursive: true })
  }
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), `// Money.\n${code}\n`)
  return (await amountFaults(root, [])).map(({ file: at, wrong }) => `${at} ${wrong}`)
}

test.each([
  ['const a = Math.round(x * 100) / 100', 'rounds to hundredths by itself'],
  ['const a = Math.floor(100 * (x + y))', 'rounds to hundredths by itself'],
  ['const a = Math.ceil(cents) / 100', 'rounds to hundredths by itself'],
  ['const a = price.toFixed(2)', 'writes an amount by itself (toFixed)'],
  ['const a = sql`round(a * ${b} / (1 + c), 2)`', 'rounds to hundredths in SQL by itself'],
  ['const a = sql`sum(${b})::numeric(14, 2)`', 'rounds to hundredths in SQL by itself'],
  ["const a = 'trunc(x, 2)'", 'rounds to hundredths in SQL by itself'],
  ['const halfUp = (a: bigint, b: bigint) => (2n * a + b) / (2n * b)', 'has a halfUp of its own'],
  ['function notNegative(a: bigint): bigint { return a }', 'has a notNegative of its own'],
])('%s is a fault', async (code, wrong) => {
  for (const file of ['operations/one/room/a.ts', 'runtime/ports/a.ts', 'db/a.ts']) {
    expect(await faultsOf(file, code)).toEqual([`${file}:2 ${wrong}`])
  }
})

test.each([
  "import { halfUp } from '#runtime/values/money'\nconst a = halfUp(1n, 2n)",
  'const a = [Math.round(x), x.toFixed(4), Math.floor(ms / 1000)]',
  'const a = sql`round(100.0 * count(*), 1)`',
  "const a = 'round (the year 2) of it'",
  'const a = sql`(${b})::numeric`',
])('%s is none', async (code) => {
  expect(await faultsOf('operations/one/room/a.ts', code)).toEqual([])
})

test('what is no money is listed, and only while it is there', async () => {
  const file = 'operations/one/a.ts'
  expect(await faultsOf(file, 'const a = Math.round(stars * 100)')).toHaveLength(1)
  const listed = [{ file, wrong: 'rounds to hundredths by itself', why: 'stars' }]
  expect(await amountFaults(root, listed)).toEqual([])
  await faultsOf(file, 'const a = 1')
  expect((await amountFaults(root, listed)).map(({ wrong }) => wrong)).toEqual([
    'no longer does this: rounds to hundredths by itself',
  ])
})

test('SQL and the engine come to the same cents', async () => {
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
        select ${percentageOf(sql`amount`, sql`percent`)}::text as part, ${inCents(sql`amount`)}::text as whole
        from (values ${given}) as v(amount, percent)`.execute(database.root)
      for (const [i, [amount, millionths]] of all.entries()) {
        expect(rows[i]).toEqual({
          part: money.toMoney(money.percentageOf(amount, millionths / 1e4)),
          whole: money.toMoney(amount),
        })
      }
    }),
    runs(10),
  )
})
