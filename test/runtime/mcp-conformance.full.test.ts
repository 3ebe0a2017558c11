/** `/mcp` under the official conformance suite, in each protocol version that it knows and we answer. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Fetch } from '#runtime/http/api'
import { requestListener } from '#runtime/http/node-adapter'
import { serverOptions } from '#runtime/server/server'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { store } from '#test/support/store'

const suite = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/conformance/dist/index.js')
const baseline = join(import.meta.dirname, 'mcp-conformance.yml')
const folder = mkdtempSync(join(tmpdir(), 'mcp-conformance-'))
whenFileEnds(() => rmSync(folder, { recursive: true, force: true }))

const server = createServer(serverOptions)
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
whenFileEnds(() => new Promise<void>((resolve) => void server.close(() => resolve())))
const url = `http://localhost:${(server.address() as AddressInfo).port}`
const app = await testApp({ publicUrl: url, rateLimitIp: 100_000, rateLimitStore: 100_000 })
const { key } = await store(app)
/** The suite sends no key. */
const withKey: Fetch = (request, ...rest) => {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${key}`)
  return app.fetch(new Request(request, { headers }), ...rest)
}
server.on('request', requestListener(withKey, app.services.log, 'localhost'))

const run = (args: string[]) =>
  new Promise<{ code: unknown; output: string }>((resolve) => {
    execFile(
      process.execPath,
      [suite, ...args],
      { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
      (error, out, err) => resolve({ code: error?.code ?? 0, output: out + err }),
    )
  })

/** Runs all scenarios of a version. The suite exits with 1 on an unexpected failure and on an unexpected success. */
const runSuite = (version: string, expectedFailures: string, more: string[] = ['--suite', 'all']) => {
  const options = ['--spec-version', version, '--expected-failures', expectedFailures]
  return run(['server', '--url', `${url}/mcp`, ...options, '-o', join(folder, version), ...more])
}

test.each(['2026-07-28', '2025-11-25', '2025-06-18'])(
  'the server answers revision %s as the conformance suite expects',
  async (version) => {
    const { code, output } = await runSuite(version, baseline)
    expect(code, output.slice(output.indexOf('=== SUMMARY ==='))).toBe(0)
    expect(readdirSync(join(folder, version)).length).toBeGreaterThan(25)
  },
)

test('an unlisted failure and a listed success fail the suite', async () => {
  const listed = readFileSync(baseline, 'utf8')
  const changed = join(folder, 'changed.yml')
  writeFileSync(changed, listed.replace('  - prompts-list\n', ''))
  expect((await runSuite('2025-11-25', changed, ['--scenario', 'prompts-list'])).code).toBe(1)
  writeFileSync(changed, `${listed}  - tools-list\n`)
  expect((await runSuite('2025-11-25', changed, ['--scenario', 'tools-list'])).code).toBe(1)
})

test('the baseline names only scenarios of the suite', async () => {
  const known = new Set((await run(['list', '--server'])).output.match(/^ {2}- \S+/gm))
  const listed = readFileSync(baseline, 'utf8').match(/^ {2}- [\w-]+/gm)!
  expect(listed.filter((name) => !known.has(name))).toEqual([])
})
