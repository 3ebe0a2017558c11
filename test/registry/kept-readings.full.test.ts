/** What `npm run check` read of a file the last time stands for it as long as the file and the rules are what they were. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, expect, test } from 'vitest'
import type { Fault } from '#runtime/registry/checks'

const root = join(import.meta.dirname, '../..')
mkdirSync(join(root, '.tmp'), { recursive: true })
const tree = mkdtempSync(join(root, '.tmp/kept-'))
afterAll(() => rmSync(tree, { recursive: true, force: true }))

const kept = join(tree, 'node_modules/.cache/read-0.json')
const readKept = () => JSON.parse(readFileSync(kept, 'utf8'))

function write(file: string, code: string): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true })
  writeFileSync(join(tree, file), code)
}

/** Of files that are there: the lists of exceptions are about others. */
async function check(): Promise<string[]> {
  const faults = await new Promise<Fault[]>((resolve, reject) => {
    const thread = new Worker(join(root, 'scripts/checks/threads/trees.ts'), {
      workerData: { root: tree, half: 0 },
    })
    thread.once('message', resolve)
    thread.once('error', reject)
  })
  return faults.map(({ file, wrong }) => `${file} ${wrong}`).filter((each) => /things.*:/.test(each))
}

for (const layer of [
  'db',
  'runtime',
  'test/operations',
  'test/registry',
  'test/runtime',
  'test/ports',
  'test/scripts',
  'test/support',
  'scripts',
])
  mkdirSync(join(tree, layer), { recursive: true })
const body = `(n) {\n  const a = n + 1\n  const b = a * 2\n  const c = b - 3\n  const d = c / 4\n  return d\n}\n`

test('it is taken again, and read anew where the file, its neighbours or the rules have changed', async () => {
  write('operations/things/now.ts', 'export const now = () => Date.now()\n')
  write('operations/things/one.ts', `export function one${body}`)
  write('operations/others/of-things.ts', `export function two${body}`)
  const clock = "operations/things/now.ts:1 reads the machine's clock (Date.now)"
  const twins = await check()
  expect(twins).toHaveLength(2)
  expect(twins[0]).toBe(clock)
  expect(twins[1]).toContain('does word for word what')
  expect(await check()).toEqual(twins)

  // Another file may end what two have in common, and a line in front moves a fault.
  write('operations/others/of-things.ts', `export function two${body.replace('n + 1', 'n + 7')}`)
  write('operations/things/now.ts', '// Later.\nexport const now = () => Date.now()\n')
  const moved = [clock.replace(':1', ':2')]
  expect(await check()).toEqual(moved)
  rmSync(join(tree, 'operations/things/one.ts'))
  expect(await check()).toEqual(moved)
  const names = Object.keys(readKept().readings)
  expect(names).toContain('clocks operations/things/now.ts')
  expect(names.filter((name) => name.includes('one.ts'))).toEqual([])

  // What is kept stands, which shows that it is taken; of other rules, or half written, nothing is.
  const was = readKept()
  const forged = { ...was.readings['clocks operations/things/now.ts'], found: [] }
  const readings = { ...was.readings, 'clocks operations/things/now.ts': forged }
  writeFileSync(kept, JSON.stringify({ ...was, readings }))
  expect(await check()).toEqual([])
  writeFileSync(kept, JSON.stringify({ rules: 'of another day', readings }))
  expect(await check()).toEqual(moved)
  writeFileSync(kept, '{"rules":')
  expect(await check()).toEqual(moved)
  writeFileSync(kept, JSON.stringify({ rules: was.rules }))
  expect(await check()).toEqual(moved)
})
