// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code that is checked
/** What a merchant is told of once: the check, shown to bite, and to find nothing here. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { noticeFaults } from '#scripts/checks/notices'

const root = mkdtempSync(join(tmpdir(), 'notices-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function faultsOf(code: string): Promise<string[]> {
  mkdirSync(join(root, 'operations/one'), { recursive: true })
  writeFileSync(join(root, 'operations/one/a.ts'), `// Told.\n${code}\n`)
  return (await noticeFaults(root, [])).map(({ file, wrong }) => `${file} ${wrong}`)
}

test.each([
  ["await notify(tx, { type: 'sold', level: 'info' })", 'tells of sold without a key'],
  ["await tellOwners(tx, { type: is ? 'a' : 'b', title })", 'tells of a, b without a key'],
  ['await notify(tx, { type: types[move], title })', 'tells of what is computed without a key'],
  [
    "await notify(tx, { type: 'sold', dedupeKey: `sold:${id}:${tx.clock.ms()}` })",
    'makes the key of a notice out of the clock',
  ],
  ['const notice = { dedupeKey: `sold:${Date.now()}` }', 'makes the key of a notice out of the clock'],
])('%s is a fault', async (code, wrong) => {
  expect(await faultsOf(code)).toEqual([`operations/one/a.ts:2 ${wrong}`])
})

test.each([
  "await notify(tx, { type: 'sold', dedupeKey: `sold:${id}` })",
  'await notify(tx, notice)',
  "const type = { type: 'sold' }",
])('%s is none', async (code) => {
  expect(await faultsOf(code)).toEqual([])
})
