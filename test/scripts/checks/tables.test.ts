/** Which sections write and read which tables. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Issue } from '#runtime/registry/checks'
import { findTableIssues } from '#scripts/checks/tables'

const root = join(import.meta.dirname, '../../..')
const made: string[] = []
afterAll(() => {
  for (const path of made) rmSync(path, { recursive: true, force: true })
})

function tree(files: Record<string, string>): string {
  mkdirSync(join(root, '.tmp'), { recursive: true })
  const path = mkdtempSync(join(root, '.tmp/house-'))
  made.push(path)
  mkdirSync(join(path, 'operations'))
  for (const [file, code] of Object.entries(files)) {
    mkdirSync(join(path, 'operations', file, '..'), { recursive: true })
    writeFileSync(join(path, 'operations', file), code)
  }
  return path
}
const toLines = (faults: Issue[]): string[] =>
  faults.map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)

describe('tables', () => {
  const faultsOf = async (
    files: Record<string, string>,
    reads: Record<string, string[]> = {},
    variables: Record<string, string> = {},
  ) => toLines(await findTableIssues(tree(files), reads, variables))

  test.each([
    ["ctx.db.insertInto('orders')", 'a call'],
    ["ctx.db.updateTable('orders as o')", 'a call with an alias'],
    ["ctx.db.with('x', (db) => db.deleteFrom('orders'))", 'a call within a statement'],
    ['sql`insert into orders (id) values (1)`', 'SQL'],
    [`sql<number>\`with x as (\${y} update orders set a = \${b}) select 1\``, 'SQL between its values'],
    [`sql\`\${x} ; DELETE FROM orders where \${y}\``, 'SQL in capitals'],
    ["settings({ name: 'a', table: 'orders', defaults })", 'settings that it declares'],
    ["settings<A, 'orders'>({ table: 'orders' })", 'settings with their types'],
  ])('%s in two sections', async (code) => {
    const owner = "ctx.db.updateTable('orders')"
    expect(await faultsOf({ 'one/a.ts': owner, 'two/room/b.ts': code, 'one/c.ts': owner })).toEqual([
      expect.stringMatching(
        /^operations\/one\/a.ts orders is written by one \(\S+a.ts\) and two \(\S+b.ts\) → .*index.ts$/,
      ),
    ])
  })

  test.each([
    "db.selectFrom('orders as o')",
    "db.selectFrom(['x as y', 'orders'])",
    "rows.leftJoin('orders', 'a', 'b')",
    'sql`select 1 from x join orders on true`',
  ])('%s of another section is listed', async (code) => {
    const files = { 'one/a.ts': "ctx.db.updateTable('orders')", 'two/b.ts': code, 'one/c.ts': code }
    expect(await faultsOf(files)).toEqual([
      expect.stringMatching(/^operations\/two\/b.ts reads orders, which one owns → ask its index.ts/),
    ])
    expect(await faultsOf(files, { orders: ['two'] })).toEqual([])
    expect(await faultsOf(files, { orders: ['two', 'three'] })).toEqual([
      expect.stringMatching(/^operations\/three reads orders no longer → take it off/),
    ])
  })

  test('a table shared by sandboxes may be written and read by several', async () => {
    const code = "db.insertInto('sandbox_modes')"
    expect(
      await faultsOf({ 'one/a.ts': code, 'two/b.ts': code, 'three/c.ts': "db.selectFrom('sandbox_modes')" }),
    ).toEqual([])
  })

  test('a write with a variable table name must be listed', async () => {
    const files = { 'one/a.ts': 'db.deleteFrom(table)' }
    expect(await faultsOf(files)).toEqual([
      expect.stringMatching(/^operations\/one\/a.ts writes a table without naming it/),
    ])
    expect(await faultsOf(files, {}, { 'operations/one/a.ts': 'so it is' })).toEqual([])
    const named = { 'one/a.ts': "db.deleteFrom('orders')" }
    expect(await faultsOf(named, {}, { 'operations/one/a.ts': 'so it is' })).toEqual([
      expect.stringContaining('take it off the list'),
    ])
  })

  test('similar code without a table passes', async () => {
    const code = `// insert into orders
      /* delete from orders */
      const text = 'update orders'
      db.with('mine', (x) => x).selectFrom('mine')
      Array.from('orders')`
    expect(await faultsOf({ 'one/a.ts': "ctx.db.updateTable('carts')", 'two/b.ts': code })).toEqual([])
  })
})
