/** Import rules: one run of dependency-cruiser over a project that breaks each rule once. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'

const project = join(import.meta.dirname, '../../..')
mkdirSync(join(project, '.tmp'), { recursive: true })
const root = mkdtempSync(join(project, '.tmp/imports-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const files: Record<string, string> = {
  'package.json': JSON.stringify({
    type: 'module',
    imports: { '#runtime/*': './runtime/*.ts', '#operations/*': './operations/*.ts' },
    dependencies: { zod: '*' },
    devDependencies: { 'fast-check': '*' },
  }),
  'db/a.ts': "import type { A } from '#runtime/errors'",
  'runtime/errors.ts': 'export type A = 1',
  'runtime/b.ts': "import { a } from '#operations/one/index'",
  'runtime/round.ts': "import type { B } from './trip.ts'\nexport type A = B",
  'runtime/trip.ts': "export type { A as B } from './round.ts'",
  'operations/one/index.ts': 'export const a = 1',
  'operations/one/tools.ts': "import '../../scripts/start.ts'",
  'operations/one/sends.ts': "import './jobs/send.ts'",
  'operations/one/jobs/send.ts': "import 'fast-check'\nimport 'zod'",
  'operations/one/api/list.ts':
    "import './get.ts'\nimport '../../two/secret.ts'\nimport '../../three/index.ts'",
  'operations/one/api/get.ts': "import '../sends.ts'",
  'operations/two/secret.ts': 'export const a = 1',
  'operations/two/left/a.ts': "import '../right/b.ts'",
  'operations/two/left/c.ts': '',
  'operations/two/right/api/list.ts': "import '../../left/c.ts'",
  'operations/two/right/b.ts': '',
  'operations/three/index.ts': '',
  'operations/three/deep/a.ts': "import { a } from '#operations/four/index'",
  'operations/four/index.ts': 'export const a = 1',
  'operations/four/b.ts': "import '../three/index.ts'",
  'scripts/start.ts': '',
  'scripts/check.ts': "import 'fast-check'",
}

for (const [file, code] of Object.entries(files)) {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), code)
}
copyFileSync(join(project, '.dependency-cruiser.mjs'), join(root, '.dependency-cruiser.mjs'))
const { stdout } = spawnSync(
  process.execPath,
  [
    join(project, 'node_modules/dependency-cruiser/bin/dependency-cruiser.mjs'),
    ...['--output-type', 'json', 'db', 'runtime', 'operations', 'scripts'],
  ],
  { cwd: root, encoding: 'utf8' },
)
const { violations } = JSON.parse(stdout).summary as { violations: Violation[] }
interface Violation {
  rule: { name: string }
  from: string
  to: string
}

test('each rule refuses its violation, and nothing else', () => {
  const found = violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`)
  expect(found.map((each) => each.replace(/ \S*node_modules\//, ' ')).sort()).toEqual([
    'db-imports-db-only: db/a.ts → runtime/errors.ts',
    'deployed-packages-only: operations/one/jobs/send.ts → fast-check/lib/fast-check.js',
    'logic-imports-no-contract: operations/one/sends.ts → operations/one/jobs/send.ts',
    'no-circle-of-files: runtime/round.ts → runtime/trip.ts',
    'no-circle-of-modules: operations/two/left → operations/two/right',
    'no-circle-of-modules: operations/two/right → operations/two/left',
    'no-circle-of-sections: operations/four → operations/three',
    'no-circle-of-sections: operations/three → operations/four',
    'operations-import-no-operation: operations/one/api/list.ts → operations/one/api/get.ts',
    'operations-import-no-tools: operations/one/tools.ts → scripts/start.ts',
    'runtime-is-generic: runtime/b.ts → operations/one/index.ts',
    'sections-by-public-api: operations/one/api/list.ts → operations/two/secret.ts',
  ])
})
