/** Each check of the sources, shown to bite, and to let be what only looks like a fault. */
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clockFaults, type Place } from '#scripts/checks/clocks'
import { importFaults } from '#scripts/checks/imports'
import { loopFaults } from '#scripts/checks/loops'
import { roomFaults } from '#scripts/checks/rooms'
import { testFaults } from '#scripts/checks/tests'
import { faultLines, tree } from './trees.ts'

describe('imports', () => {
  const faultsOf = (files: Record<string, string>) => faultLines(importFaults, files)

  test.each([
    ['runtime/x.ts', "import '#operations/store/door'", /runtime imports operations/],
    ['db/x.ts', "import { a } from '#runtime/errors'", /db imports runtime/],
    [
      'operations/one/api/x.ts',
      "import { a } from '../../two/secret.ts'",
      /go through operations\/two\/door.ts/,
    ],
    ['operations/one/x.ts', "import a from './jobs/b.ts'", /logic imports the job/],
    ['operations/one/api/x.ts', "import a from './y.ts'", /imports the operation/],
  ])('%s may not %s', async (file, code, expected) => {
    expect((await faultsOf({ [file]: code }))[0]).toMatch(expected)
  })

  test('what a server imports is installed without devDependencies', async () => {
    const code =
      "import { a } from 'fast-check/b'\nconst later = () => import('@vitest/c')\nimport 'node:fs'\nimport 'zod'"
    const devs = (file: string): string =>
      `${file} imports fast-check, which a server that is installed without devDependencies does not have → put it among the dependencies of package.json`
    const files = { 'operations/one/a.ts': code, 'scripts/bench/a.ts': code, 'scripts/start.ts': code }
    const found = await faultsOf({ 'package.json': '{ "dependencies": { "zod": "1" } }', ...files })
    expect(found).toEqual(
      ['operations/one/a.ts', 'scripts/start.ts'].flatMap((file) => [
        devs(file),
        devs(file).replace('fast-check', '@vitest/c'),
      ]),
    )
  })

  test('doors form no circle', async () => {
    expect(
      await faultsOf({
        'operations/one/a.ts': "import '../two/door.ts'",
        'operations/two/a.ts': "import '../three/door.ts'",
        'operations/three/a.ts': "import '../one/door.ts'",
      }),
    ).toEqual([expect.stringContaining('one → two → three → one')])
  })

  test.each([
    ['db/a.ts', 'db/b.ts', "'./b.ts'", "'#db/a'"],
    ['runtime/a.ts', 'runtime/x/b.ts', "'./x/b.ts'", "'#runtime/a'"],
    ['operations/one/room/a.ts', 'operations/one/room/b.ts', "'./b.ts'", "'./a.ts'"],
    ['scripts/a.ts', 'scripts/seed/b.ts', "'./seed/b.ts'", "'#scripts/a'"],
  ])('%s and %s, by types too', async (one, other, toOther, toOne) => {
    const files = { [one]: `import type { B } from ${toOther}`, [other]: `export type { A } from ${toOne}` }
    expect(await faultsOf(files)).toEqual([
      `${one} files import each other in a circle: ${one} → ${other} → ${one} → ` +
        'put what both need, often a type, into a file of its own that imports neither',
    ])
  })

  test('of a large knot one way round is told, and of two knots both', async () => {
    const faults = await faultsOf({
      'runtime/a.ts': "import './b.ts'\nimport './c.ts'",
      'runtime/b.ts': "import './c.ts'",
      'runtime/c.ts': "import './d.ts'\nimport './a.ts'",
      'runtime/d.ts': "import './b.ts'",
      'runtime/beside.ts': "import './a.ts'",
      'db/a.ts': "import './b.ts'",
      'db/b.ts': "import './a.ts'",
    })
    expect(faults).toHaveLength(2)
    expect(faults.join()).toMatch(
      /db\/a.ts → db\/b.ts → db\/a.ts.*runtime\/a.ts → runtime\/c.ts → runtime\/a.ts/,
    )
  })

  test('rooms of a section form no circle, contracts and the root being of them', async () => {
    const files = {
      'operations/one/a.ts': '',
      'operations/one/b.ts': "import './left/c.ts'",
      'operations/one/left/c.ts': '',
      'operations/one/left/api/list-a.ts': "import '../../a.ts'",
      'operations/one/right/c.ts': "import '../left/c.ts'",
    }
    expect(await faultsOf(files)).toEqual([
      expect.stringMatching(
        /^operations\/one rooms import each other in a circle: operations\/one\/b.ts → operations\/one\/left\/c.ts, operations\/one\/left\/api\/list-a.ts → operations\/one\/a.ts → put what both need/,
      ),
    ])
    const binding = { 'operations/one/door.ts': "export * from './left/c.ts'" }
    const { 'operations/one/b.ts': _without, ...open } = files
    expect(await faultsOf({ ...open, ...binding })).toEqual([])
  })
})

describe('rooms', () => {
  test.each<[string, Record<string, string>, RegExp]>([
    [
      'an operation that nothing finds',
      { 'one/list-things.ts': 'export default operation({})' },
      /one\/list-things.ts declares a operation that nothing finds here → move it to api\//,
    ],
    [
      'a page beside pages/',
      { 'one/room/a.ts': 'const a = page({})' },
      /declares a page .* → move it to pages\//,
    ],
    ['a name that says nothing', { 'one/lib/a.ts': '' }, /is named lib, which says nothing/],
    ['a name said twice', { 'one/tags/tags-schema.ts': '' }, /says tags twice → name it schema.ts/],
    ['a long file', { 'one/api/a.ts': '\n'.repeat(401) }, /has 401 lines/],
    [
      'a long module of a browser',
      { 'one/elements/store-a.js': '\n'.repeat(401) },
      /store-a.js has 401 lines/,
    ],
    [
      'a full room',
      Object.fromEntries(Array.from({ length: 21 }, (_none, n) => [`one/room/f${n}.ts`, ''])),
      /operations\/one\/room has 21 files of logic/,
    ],
    [
      'a full section',
      Object.fromEntries(Array.from({ length: 11 }, (_none, n) => [`one/f${n}.ts`, ''])),
      /operations\/one has 11 files of logic/,
    ],
  ])('%s', async (_name, files, expected) => {
    const faults = await roomFaults(join(tree(files), '..'))
    expect(faults.map(({ file, wrong, remedy }) => `${file} ${wrong} → ${remedy}`).join('\n')).toMatch(
      expected,
    )
  })
})

test('the runtime has full rooms and long files too', async () => {
  const files = Object.fromEntries(Array.from({ length: 21 }, (_none, n) => [`../runtime/room/f${n}.ts`, '']))
  const faults = await roomFaults(join(tree({ ...files, '../db/a.ts': '\n'.repeat(401) }), '..'))
  expect(faults.map(({ file }) => file).sort()).toEqual(['db/a.ts', 'runtime/room'])
})

describe('where tests stand', () => {
  const calls = "import a from '#operations/one/tags/api/a'\n"
  const right: Record<string, string> = {
    'operations/one/tags/api/a.ts': '',
    'operations/one/jobs/b.ts': '',
    'operations/two/door.ts': '',
    'test/operations/everywhere.test.ts': '',
    'test/operations/one/waited.test.ts': '',
    'test/operations/one/support.ts': '',
    'test/operations/one/tags/saving.test.ts': calls,
  }
  const faultsOf = (changed: Record<string, string>) => faultLines(testFaults, { ...right, ...changed })

  test('in the rooms of what they test', async () => {
    expect(await faultsOf({})).toEqual([])
  })

  test.each<[string, Record<string, string>, RegExp]>([
    [
      'an operation that no test calls',
      { 'operations/one/tags/api/c.ts': '' },
      /^operations\/one\/tags\/api\/c.ts is called by no test of its section → import it .* test\/operations\/one\//,
    ],
    [
      'one that another section calls alone',
      { 'test/operations/one/tags/saving.test.ts': '', 'test/operations/two/b.test.ts': calls },
      /^operations\/one\/tags\/api\/a.ts is called by no test/,
    ],
    [
      'one that a support file imports alone',
      { 'test/operations/one/tags/saving.test.ts': '', 'test/operations/one/support.ts': calls },
      /^operations\/one\/tags\/api\/a.ts is called by no test/,
    ],
    [
      'one of which a type is imported alone',
      { 'test/operations/one/tags/saving.test.ts': calls.replace('import', 'import type') },
      /^operations\/one\/tags\/api\/a.ts is called by no test/,
    ],
    [
      'a folder that is no room',
      { 'test/operations/one/lib/a.test.ts': '' },
      /^test\/operations\/one\/lib\/a.test.ts stands below lib\/, which is no room of one → move it to/,
    ],
    [
      'a folder of contracts',
      { 'test/operations/one/jobs/b.test.ts': '' },
      /below jobs\/, which is no room of one/,
    ],
    [
      'a folder within a room',
      { 'test/operations/one/tags/api/a.test.ts': '' },
      /below tags\/api\/, which is no room of one/,
    ],
    [
      'a folder that is no section',
      { 'test/operations/three/a.test.ts': '' },
      /three\/, which is no section/,
    ],
    ['a room said twice', { 'test/operations/one/tags/tag-saving.test.ts': '' }, /says tags twice → name it/],
    ['a section said twice', { 'test/operations/two/two.test.ts': '' }, /says two twice/],
  ])('%s', async (_name, changed, expected) => {
    const faults = await faultsOf(changed)
    expect(faults).toHaveLength(1)
    expect(faults[0]).toMatch(expected)
  })
})

describe("the machine's clock", () => {
  const faultsOf = (files: Record<string, string>, allowed: Record<string, Place> = {}) =>
    faultLines((path) => clockFaults(path, allowed), files)

  test.each([
    ['const a = Date.now()', 'Date.now'],
    ['const a = globalThis.Date.now', 'Date.now'],
    ['const a = new Date()', 'new Date()'],
    ['const a = Date()', 'Date()'],
    ['const a = DateTime.now()', 'DateTime.now'],
    ['const a = DateTime.utc().plus({ days: 1 })', 'DateTime.utc'],
    ['const a = at.diffNow()', 'diffNow'],
    ['const clock = machineClock()', 'machineClock'],
    ['app.clock.frozenAt = null', 'frozenAt = null'],
    ['const a = sql`select 1 where at < now()`', 'now() in SQL'],
    ["const a = sql`select NOW() + interval '1 s'`", 'now() in SQL'],
    ["const a = 'day > current_date - 30'", 'current_date in SQL'],
  ])('%s is a fault, and its remedy is told', async (code, reads) => {
    const [inOperation, inTest, ...others] = await faultsOf({
      'operations/one/x.ts': `// a line before\n${code}`,
      'test/x.test.ts': code,
    })
    expect(inOperation).toContain(
      `operations/one/x.ts:2 reads the machine's clock (${reads}) → ask ctx.clock`,
    )
    expect(inTest).toContain(`test/x.test.ts:1 reads the machine's clock (${reads}) → ask app.clock`)
    expect(others).toEqual([])
  })

  test('a stopwatch may measure the work of an operation, and decides no test', async () => {
    const code = 'const until = performance.now() + 10'
    expect(await faultsOf({ 'operations/one/x.ts': code, 'test/x.test.ts': code })).toEqual([
      expect.stringMatching(/^test\/x.test.ts:1 .*assert what was done/),
    ])
  })

  test('what only looks like it is none', async () => {
    const code = `import { type Clock, machineClock } from '#runtime/clock'
      // Date.now() and now() in a comment
      const a = [new Date(at), ctx.now(), app.clock.now(), await now(), DateTime.utc(2026, 1), 'it is now', 'x.now()']`
    expect(await faultsOf({ 'operations/one/x.ts': code })).toEqual([])
  })

  test('a listed place is let be, and one that has no need of the list is taken off it', async () => {
    const files = { 'test/x.test.ts': 'const a = Date.now()' }
    const place = (reads: string[]) => ({ 'test/x.test.ts': { reads, why: 'it measures' } })
    expect(await faultsOf(files, place(['Date.now']))).toEqual([])
    expect(await faultsOf(files, place(['Date.now', 'new Date()']))).toEqual([
      expect.stringMatching(/^test\/x.test.ts no longer reads new Date\(\) → take it off/),
    ])
  })
})

describe('what nobody could end', () => {
  const faultsOf = (files: Record<string, string>) => faultLines(loopFaults, files)

  const wait = `import { setTimeout as wait } from 'node:timers/promises'\n`

  test('pages that are gone through as long as a provider says so', async () => {
    const code = 'let next = await read()\ndo { next = await read(next) } while (next)'
    expect(await faultsOf({ 'runtime/ports/x.ts': code, 'operations/one/jobs/x.ts': code })).toEqual([
      expect.stringMatching(/^runtime\/ports\/x.ts:2 goes on .* → go through pages with pagesOf/),
      expect.stringMatching(/^operations\/one\/jobs\/x.ts:2 goes on/),
    ])
  })

  test.each(['await wait(10)', 'await wait(10, undefined)', 'await wait(10, true, { ref: false })'])(
    '%s, in an operation',
    async (code) => {
      expect(await faultsOf({ 'operations/one/x.ts': wait + code, 'runtime/x.ts': wait + code })).toEqual([
        expect.stringMatching(/^operations\/one\/x.ts:2 waits, .* → wait with pause or clockReaches/),
      ])
    },
  )

  test('an adapter waits between the tries of one call', async () => {
    const file = 'operations/store/ecommerce/x.ts'
    expect(await faultsOf({ [file]: `${wait}await wait(10)` })).toEqual([])
  })

  test('what only looks like it is none', async () => {
    const code = `import { setImmediate as others } from 'node:timers/promises'
      // do { wait(1) } while (true)
      await wait(10)
      await others()`
    const heard = `${wait}await wait(10, 'late', { signal: stop.signal })\nawait wait(10, 'late', { signal })`
    expect(await faultsOf({ 'operations/one/x.ts': code, 'operations/one/y.ts': heard })).toEqual([])
  })
})
