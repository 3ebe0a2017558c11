/** Rows by their id, and what is had once, in one place: the check that nobody writes them again, shown to bite. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { rowFaults } from '#scripts/checks/rows'

const root = mkdtempSync(join(tmpdir(), 'rows-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const file = 'operations/one/room/a.ts'
async function faultsOf(code: string, exceptions: Parameters<typeof rowFaults>[1] = []): Promise<string[]> {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), `async function of(ctx, id) {\n${code}\n}\n`)
  return (await rowFaults(root, exceptions)).map(
    ({ remedy }) => /\b(?:findRow|oneRow|unlessTaken)\b/.exec(remedy)?.[0] ?? remedy,
  )
}

const query = "ctx.db.selectFrom('looks').select('name').where('id', '=', id)"

test.each([
  [`const row = isId(id) ? await ${query}.executeTakeFirst() : undefined`, 'findRow'],
  ['const [row] = isId(id) ? await byId(ctx, { id }) : []', 'findRow'],
  ['const [row] = !isId(id) ? [] : await byId(ctx, { id })', 'findRow'],
  [`const row = id !== null && isId(id) ? await ${query}.executeTakeFirst() : null`, 'findRow'],
  [`const row = await ${query}.executeTakeFirst()\nif (!row) throw refuse('not_found', 'No')`, 'oneRow'],
  [
    `const row = await ${query.replace("'id'", "'l.id'")}.forUpdate().executeTakeFirst()\nif (!row) { throw refuse('not_found', none) }`,
    'oneRow',
  ],
  [
    "try { await insert() } catch (error) { if (isDuplicate(error, 'looks_name')) throw refuse('conflict', 'Taken')\nthrow error }",
    'unlessTaken',
  ],
  [
    "try { await insert() } catch (error) { if (!isDuplicate(error)) throw error\nthrow refuse('conflict', 'Taken') }",
    'unlessTaken',
  ],
  [
    "try { await insert() } catch (error) { throw isDuplicate(error, 'a') ? refuse('conflict', 'Taken') : error }",
    'unlessTaken',
  ],
])('%s is a fault', async (code, remedy) => {
  expect(await faultsOf(code)).toEqual([remedy])
})

test.each([
  "const row = await oneRow(ctx.db.selectFrom('looks').select('name'), id, 'There is no such look')",
  'if (!isId(id)) return null',
  'const ref = isId(id) ? id : null',
  'rows = isId(id) ? rows.where(a) : rows.where(b)',
  `const row = await ${query}.executeTakeFirst()\nif (!row) return null`,
  "const row = await ctx.db.selectFrom('a').select('b').where('phone', '=', id).executeTakeFirst()\nif (!row) throw refuse('not_found', 'No')",
  'try { await insert() } catch (error) { if (!isDuplicate(error)) throw error }',
  "try { await insert() } catch (error) { await undo()\nif (error instanceof Refused) throw refuse('bad_request', 'a')\nif (isDuplicate(error)) throw taken()\nthrow error }",
])('%s is none', async (code) => {
  expect(await faultsOf(code)).toEqual([])
})

test('an exception holds for its file and fault, and is a fault once it is needed no more', async () => {
  const exception = { file, wrong: 'guards a query by the form of its id', why: 'of the test' }
  expect(await faultsOf('const [row] = isId(id) ? await byId(ctx, { id }) : []', [exception])).toEqual([])
  expect(await faultsOf('const a = 1', [exception])).toEqual([
    'take it off the list of scripts/checks/rows.ts',
  ])
})
