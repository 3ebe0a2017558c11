/** `npm run bench` measures all three servers on the same answers, and the calls of large stores, here of small ones; the numbers themselves are no test's business. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import type { Results } from '#scripts/bench/report'
import type { Sizes } from '#scripts/bench/sizes'
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

test.skipIf(!findPostgres())(
  'sizes: each call beside its bare SELECT, and the export',
  { timeout: 240_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'merchant-sizes-test-'))
    try {
      const file = join(folder, 'sizes.json')
      const only = ['--only', 'conversions', '--rows', '3000', '--samples', '2']
      const { stdout } = await bench('sizes', ...only, '--json', file)
      expect(stdout).toMatch(/^area\s+what\s+p50 ms\s+p95 ms\s+at most\s+cpu ms\s+bare ms\s+peak MiB/m)
      const sizes: Sizes = JSON.parse(readFileSync(file, 'utf8'))
      expect(JSON.parse(stdout.slice(stdout.indexOf('\n{')))).toEqual(sizes)
      const [load, ...others] = sizes.lines
      expect(load).toMatchObject({ name: 'seed load of 3000 conversions', rows: 3000, bareP50Ms: null })
      const job = others.pop()!
      expect(job).toMatchObject({ name: 'export of all conversions', samples: 1, atMostMiB: 256 })
      expect(job.peakMiB === null).toBe(!existsSync('/proc/self/status'))
      expect(others.length).toBeGreaterThan(15)
      for (const line of others) {
        expect(line.samples, line.name).toBe(2)
        expect(line.p95Ms).toBeGreaterThanOrEqual(line.p50Ms)
        expect(line.bareP50Ms).toBeGreaterThan(0)
        expect(line.cpuMs === null, line.name).toBe(!existsSync('/proc/self/stat'))
        expect(line.reached, line.name).toBe(line.atMostMs === null ? null : line.p95Ms <= line.atMostMs)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  },
)

test('an option that makes no sense is refused with a sentence', async () => {
  await expect(bench('--rounds', '0')).rejects.toMatchObject({
    stderr: expect.stringContaining('whole number'),
  })
  await expect(bench('--only', 'everything')).rejects.toMatchObject({
    stderr: expect.stringContaining('read, list, create, forbidden'),
  })
  await expect(bench('sizes', '--only', 'nothing')).rejects.toMatchObject({
    stderr: expect.stringContaining('conversions'),
  })
})
