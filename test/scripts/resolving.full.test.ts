/** Our module resolution during a start matches Node's. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** Loads every operation, job and page, and all modules of a server. */
const program = `
  import { loadRegistry } from '#runtime/registry/registry'
  import '#scripts/server/start'
  import '#db/open'
  await loadRegistry()
  await Promise.all([import('@aws-sdk/client-s3'), import('nodemailer'), import('#operations/discovery/mcp/server')])
`

interface Found {
  url: string
  format?: string | null
}

function resolveAll(preloads: readonly string[]): Record<string, Found> {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-resolved-'))
  const list = join(folder, 'found.json')
  try {
    const imports = preloads.map((path) => `--import=${join(root, path)}`)
    execFileSync(process.execPath, [...imports, '--input-type=module-typescript', '-e', program], {
      cwd: root,
      env: { ...process.env, RESOLVED_MODULES: list, NODE_OPTIONS: '' },
    })
    return JSON.parse(readFileSync(list, 'utf8'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('every import of a start resolves as in Node', () => {
  const recorder = 'test/support/resolved-modules.js'
  const byNode = resolveAll([recorder])
  const byUs = resolveAll(['scripts/cli/resolving.js', recorder])
  expect(Object.keys(byNode).length).toBeGreaterThan(5000)
  const others = Object.keys(byNode).filter((each) => {
    const [theirs, ours] = [byNode[each]!, byUs[each]]
    return theirs.url !== ours?.url || theirs.format !== ours.format
  })
  expect(others.map((each) => [each, byNode[each], byUs[each]])).toEqual([])
})
