/** `npm run bench` measures all three servers on the same answers; the numbers themselves are no test's business. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Results } from '#scripts/bench/report'
import { findPostgres } from '#scripts/lib/postgres'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)
const bench = (...options: string[]) =>
  run(process.execPath, [join(root, 'scripts/bench.ts'), ...options], { cwd: root })

test.skipIf(!findPostgres())('a table, and the same as JSON', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bench-test-'))
  try {
    const file = join(folder, 'results.json')
    const { stdout } = await bench('--seconds', '1', '--rounds', '1', '--connections', '4', '--json', file)
    expect(stdout).toMatch(/^operation\s+server\s+req\/s\s+p50 ms\s+p99 ms/m)
    const results: Results = JSON.parse(readFileSync(file, 'utf8'))
    expect(JSON.parse(stdout.slice(stdout.indexOf('\n{')))).toEqual(results)
    expect(results.results.map(({ operation, target }) => `${operation} ${target}`)).toEqual(
      ['read', 'list', 'create', 'forbidden'].flatMap((operation) =>
        ['gateway', 'bare', 'fastify'].map((target) => `${operation} ${target}`),
      ),
    )
    for (const line of results.results) {
      expect(line.requestsPerSecond).toBeGreaterThan(0)
      expect(line.p99Ms).toBeGreaterThanOrEqual(line.p50Ms)
      expect(line.serverCpuMicros).toBeGreaterThan(0)
    }
    for (const each of results.comparisons) {
      const mine = results.measurements.find(
        ({ operation, target }) => operation === each.operation && target === 'gateway',
      )!
      const bare = results.measurements.find(
        ({ operation, target }) => operation === each.operation && target === 'bare',
      )!
      expect(each.ofBare).toBeCloseTo(mine.requestsPerSecond / bare.requestsPerSecond, 2)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('an option that makes no sense is refused with a sentence', async () => {
  await expect(bench('--rounds', '0')).rejects.toMatchObject({
    stderr: expect.stringContaining('whole number'),
  })
  await expect(bench('--only', 'everything')).rejects.toMatchObject({
    stderr: expect.stringContaining('read, list, create, forbidden'),
  })
})
