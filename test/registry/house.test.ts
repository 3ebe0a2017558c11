/** How the sections are kept apart, and each check of it shown to bite. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Fault } from '#runtime/registry/checks'
import { sameBodyFaults } from '#scripts/checks/copies'
import { stateFaults } from '#scripts/checks/state'
import { tableFaults } from '#scripts/checks/tables'

const root = join(import.meta.dirname, '../..')
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
const told = (faults: Fault[]): string[] =>
  faults.map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`)

describe('tables', () => {
  const faultsOf = async (
    files: Record<string, string>,
    reads: Record<string, string[]> = {},
    variables: Record<string, string> = {},
  ) => told(await tableFaults(tree(files), reads, variables))

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
        /^operations\/one\/a.ts orders is written by one \(\S+a.ts\) and two \(\S+b.ts\) → .*door.ts$/,
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
      expect.stringMatching(/^operations\/two\/b.ts reads orders, which one owns → ask its door.ts/),
    ])
    expect(await faultsOf(files, { orders: ['two'] })).toEqual([])
    expect(await faultsOf(files, { orders: ['two', 'three'] })).toEqual([
      expect.stringMatching(/^operations\/three reads orders no longer → take it off/),
    ])
  })

  test('a table that all sandboxes share may be written and read by several', async () => {
    const code = "db.insertInto('sandbox_modes')"
    expect(
      await faultsOf({ 'one/a.ts': code, 'two/b.ts': code, 'three/c.ts': "db.selectFrom('sandbox_modes')" }),
    ).toEqual([])
  })

  test('a table that is written by a variable has to be told of', async () => {
    const files = { 'one/a.ts': 'db.deleteFrom(table)' }
    expect(await faultsOf(files)).toEqual([
      expect.stringMatching(/^operations\/one\/a.ts:1 writes a table without naming it/),
    ])
    expect(await faultsOf(files, {}, { 'operations/one/a.ts': 'so it is' })).toEqual([])
    expect(await faultsOf({}, {}, { 'operations/one/a.ts': 'so it is' })).toEqual([
      expect.stringContaining('take it off the list'),
    ])
  })

  test('what only looks like it is none', async () => {
    const code = `// insert into orders
      const text = 'update orders'
      db.with('mine', (x) => x).selectFrom('mine')
      Array.from('orders')
      log.push(\`delete from orders\`)`
    expect(await faultsOf({ 'one/a.ts': "ctx.db.updateTable('carts')", 'two/b.ts': code })).toEqual([])
  })
})

describe('copies', () => {
  const body = `{
  const a = [given]
  for (const each of a) {
    if (each) return each
  }
  return null
}`

  test('the same body in two sections, whatever its name, form, spaces and comments', async () => {
    const files = {
      'one/a.ts': `export function first(given: string) ${body}`,
      'two/room/b.ts': `\nconst other = (given: string) => ${body.replace('const a', '// why\n\n    const   a')}`,
      'two/c.ts': `class X { method(given: string) ${body} }`,
    }
    expect(told(await sameBodyFaults(tree(files)))).toEqual([
      expect.stringMatching(
        /^operations\/one\/a.ts:1 does word for word what method of operations\/two\/c.ts:1 does → write it once/,
      ),
    ])
  })

  test('within one section, short or different ones are none', async () => {
    const short = '{\n  return 1\n}'
    const files = {
      'one/a.ts': `function a(given) ${body}\nfunction b() ${short}`,
      'one/b.ts': `function c(given) ${body}`,
      'two/c.ts': `function d(given) ${body.replace('null', '0')}\nfunction e() ${short}`,
    }
    expect(await sameBodyFaults(tree(files))).toEqual([])
  })
})

describe('what a module keeps', () => {
  test.each([
    'const kept = new Map<string, () => void>()\nexport function on(a: string) { kept.set(a, a) }',
    'const kept = new Set()\nexport const on = (a) => kept.add(a)',
    'const kept = new WeakMap()\nclass X { on(a) { kept.set(a, a) } }',
    'const kept: string[] = []\nexport function on(a) { if (a) kept.push(a) }',
    'const kept = {}\nexport function on(a) { kept[a] = 1 }',
    'const kept = {}\nexport function on(a) { Object.assign(kept, a) }',
    'const kept = { a: 1 }\nexport function off() { delete kept.a }',
    'let kept = 0\nexport function on() { kept += 1 }',
  ])('%s', async (code) => {
    const path = tree({ 'one/a.ts': code })
    expect(told(await stateFaults(path, []))).toEqual([
      expect.stringMatching(/^operations\/one\/a.ts:1 keeps kept between calls → let sections wire it/),
    ])
    const listed = { file: 'operations/one/a.ts', wrong: 'keeps kept between calls', why: 'it may' }
    expect(await stateFaults(path, [listed])).toEqual([])
    expect(told(await stateFaults(tree({}), [listed]))).toEqual([expect.stringContaining('take it off')])
  })

  test('what is read only, filled where it stands, or of one call is none', async () => {
    const code = `const names = new Set(['a'])
      const byName = new Map()
      for (const name of names) byName.set(name, 1)
      const list = [3, 1]
      export function ask(name) { const found = []; found.push(name); return names.has(name) && list.toSorted() }`
    expect(await stateFaults(tree({ 'one/a.ts': code }), [])).toEqual([])
  })
})
