// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is checked
/** `least` and `greatest` leave out what is null: the check that nobody writes them, shown to bite, and its forms. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { greatest, greatestKnown, least, leastKnown } from '#runtime/database/sql'
import { nullFaults } from '#scripts/checks/nulls'
import { freshDatabase } from '#test/support/app'

const root = mkdtempSync(join(tmpdir(), 'nulls-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const { database } = await freshDatabase()
afterAll(() => database.close())

async function faultsOf(file: string, code: string): Promise<string[]> {
  for (const layer of ['db', 'runtime', 'operations']) {
    rmSync(join(root, layer), { recursive: true, force: true })
    mkdirSync(join(root, layer), { recursive: true })
  }
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), `// greatest(a, b)\n${code}\n`)
  return (await nullFaults(root)).map(({ file: at, remedy }) => `${at} ${remedy.split('(')[0]}`)
}

test.each([
  ['const a = sql`greatest(a, ${b})`', 'greatest'],
  ['const a = sql<number>`select ${x}, LEAST (a, b)`', 'least'],
  ["const a = 'order by least(a, b)'", 'least'],
  ['const a = sql`${x} + greatest(\n  a, b) - 1`', 'greatest'],
  ["const a = eb.fn('greatest', ['a', 'b'])", 'greatest'],
])('%s is a fault', async (code, name) => {
  for (const file of ['operations/one/room/a.ts', 'runtime/ports/a.ts', 'db/a.ts']) {
    expect(await faultsOf(file, code)).toEqual([`${file}:2 take ${name}`])
  }
})

test('one that is told twice in a text is two', async () => {
  expect(await faultsOf('db/a.ts', "const a = 'least(a, greatest(b, c))'")).toHaveLength(2)
})

test.each([
  'const a = [least(x, y), greatestKnown(x, y)]',
  "const a = 'must be at least (in whole units) 2'",
  'const least = (a: number) => a',
  "const a = { least: 'least' }",
])('%s is none', async (code) => {
  expect(await faultsOf('operations/one/room/a.ts', code)).toEqual([])
})

test('where the forms are made, and what is released, is let be', async () => {
  expect(await faultsOf('runtime/database/sql.ts', "const a = 'least(a, b)'")).toEqual([])
  expect(await faultsOf('db/migrations/0001-a.ts', "const a = 'least(a, b)'")).toEqual([])
})

test('null where one is, or of those that are known', async () => {
  const one = sql`1::int`
  const two = sql`2::int`
  const none = sql`null::int`
  const { rows } =
    await sql`select ${least(two, one)} as a, ${least(one, none)} as b, ${greatest(one, two)} as c,
    ${greatest(none, two)} as d, ${leastKnown(none, two, one)} as e, ${greatestKnown(one, none)} as f,
    ${leastKnown(none, none)} as g`.execute(database.root)
  expect(rows).toEqual([{ a: 1, b: null, c: 2, d: null, e: 1, f: 1, g: null }])
})
