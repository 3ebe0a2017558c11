/** `npm run bench` measures all servers on the same answers, and the calls of large stores, here of small ones; the numbers themselves are no test's business. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { benchProgram } from '#scripts/bench'
import { operationNames } from '#scripts/bench/kinds'
import { Answers } from '#scripts/bench/load'
import { targetsOf } from '#scripts/bench/operations'
import type { Results } from '#scripts/bench/report'
import type { Sizes } from '#scripts/bench/sizes'
import type { Tenants } from '#scripts/bench/tenants'
import { byPowerLaw } from '#scripts/bench/tenants/fill'
import { findPostgres } from '#scripts/cli/postgres'
import { type Ran, run } from '#test/support/command'

const bench = (...options: string[]): Promise<Ran> => run(benchProgram, options)

/** What a run printed, which must have succeeded; on standard error it may tell how far it is. */
async function printed(...options: string[]): Promise<string> {
  const { code, out, err } = await bench(...options)
  expect([code, err.replaceAll(/^(Measuring|conversions \(1 of 1\)).*\n/gm, '')]).toEqual([0, ''])
  return out
}

/** Each starts a PostgreSQL of its own. */
const isElsewhere = !findPostgres()

const countsStatements = existsSync(join(findPostgres() ?? '', '../lib/pg_stat_statements.so'))

test.skipIf(isElsewhere)('a table, and the same as JSON', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bench-test-'))
  try {
    const file = join(folder, 'results.json')
    const stdout = await printed(
      ...'--seconds 0.1 --rounds 1 --connections 4 --stores 100 --limit 1000 --json'.split(' '),
      file,
    )
    expect(stdout).toMatch(/^operation\s+server\s+req\/s\s+p50 ms\s+p99 ms/m)
    const results: Results = JSON.parse(readFileSync(file, 'utf8'))
    expect(JSON.parse(stdout.slice(stdout.indexOf('\n{')))).toEqual(results)
    expect(results.results.map(({ operation, target }) => `${operation} ${target}`)).toEqual(
      operationNames.flatMap((operation) => targetsOf(operation).map((target) => `${operation} ${target}`)),
    )
    for (const line of results.results) {
      expect(line.requestsPerSecond).toBeGreaterThan(0)
      expect(line.p99Ms).toBeGreaterThanOrEqual(line.p50Ms)
      expect(line.serverCpuMicros).toBeGreaterThan(0)
      expect(line.statements === null).toBe(!countsStatements)
    }
    for (const each of results.comparisons) {
      const mine = results.measurements.find(
        ({ operation, target }) => operation === each.operation && target === 'gateway',
      )!
      const theirs = results.measurements.find(
        ({ operation, target }) => operation === each.operation && target === 'fastify',
      )!
      expect(each.ofFastify).toBeCloseTo(mine.requestsPerSecond / theirs.requestsPerSecond, 2)
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.skipIf(isElsewhere)(
  'sizes: each call beside its bare SELECT, and the export',
  { timeout: 240_000 },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'merchant-sizes-test-'))
    try {
      const file = join(folder, 'sizes.json')
      const only = ['--only', 'conversions', '--rows', '500', '--samples', '2']
      const stdout = await printed('sizes', ...only, '--json', file)
      expect(stdout).toMatch(/^area\s+what\s+p50 ms\s+p95 ms\s+at most\s+cpu ms\s+bare ms\s+peak MiB/m)
      const sizes: Sizes = JSON.parse(readFileSync(file, 'utf8'))
      expect(JSON.parse(stdout.slice(stdout.indexOf('\n{')))).toEqual(sizes)
      const [load, ...others] = sizes.lines
      expect(load).toMatchObject({ name: 'seed load of 500 conversions', rows: 500, bareP50Ms: null })
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

test.skipIf(isElsewhere)('tenants: a curve, and every job of the clock', { timeout: 240_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-tenants-test-'))
  try {
    const file = join(folder, 'tenants.json')
    const sizes = '--stores 4,8 --contacts 80 --active 2 --rate 120 --minutes 0.05'.split(' ')
    const { code, out } = await bench('tenants', ...sizes, '--json', file)
    expect(code).toBe(0)
    expect(out).toMatch(/^stores\s+4\s+8$/m)
    const { lines }: Tenants = JSON.parse(readFileSync(file, 'utf8'))
    expect(lines.map(({ stores, contacts, active }) => [stores, contacts, active])).toEqual([
      [4, 40, 2],
      [8, 80, 2],
    ])
    for (const { stores, jobs, traffic, lag } of lines) {
      expect(jobs.filter(({ quiet }) => quiet.queued > 0)).toEqual([])
      // Whoever is connected is asked after, once each.
      const queueing = jobs.filter(({ connected }) => connected.queued > 0)
      expect(queueing.map(({ name }) => name)).toContain('carts-sync-all')
      for (const { connected } of queueing) expect(connected.queued).toBe(stores)
      expect([traffic.failed, traffic.refused, lag.ofTheClock.failed]).toEqual([0, 0, 0])
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('contacts by a power law: all are given out, most to a few', () => {
  const shares = byPowerLaw(1000, 100_000)
  expect(shares.reduce((a, b) => a + b, 0)).toBe(100_000)
  expect(shares[0]! / shares[9]!).toBeCloseTo(10, 1)
  expect(shares.at(-1)).toBeGreaterThan(10)
})

test('answers are told apart however they arrive; one without a length is refused', () => {
  const of = (status: number, body: string): string =>
    `HTTP/1.1 ${status} Told\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const sent = `${of(200, '{"a":"\\r\\n"}')}${of(403, '')}${of(201, 'b'.repeat(70))}`
  for (const size of [1, 7, 50, sent.length]) {
    const told: number[] = []
    const answers = new Answers((status) => told.push(status))
    for (let at = 0; at < sent.length; at += size) answers.read(sent.slice(at, at + size))
    expect(told, `in pieces of ${size}`).toEqual([200, 403, 201])
  }
  const tags: string[] = []
  const unchanged = new Answers((status, head) => tags.push(`${status} ${/etag: (\S+)/.exec(head)?.[1]}`))
  unchanged.read(`HTTP/1.1 304 Told\r\netag: "a"\r\n\r\n${of(200, 'b')}`)
  expect(tags).toEqual(['304 "a"', '200 undefined'])
  const none = new Answers(() => undefined)
  expect(() => none.read('HTTP/1.1 200 OK\r\n\r\n')).toThrow('no Content-Length')
})

test('an option that makes no sense is refused with a sentence', async () => {
  for (const [options, sentence] of [
    ['--rounds 0', 'whole number'],
    ['--limit 10001', 'whole number from 1 to 10000'],
    ['--seconds none', 'number of seconds'],
    ['--only everything', 'read, cold, unchanged, list'],
    ['sizes --only nothing', 'conversions'],
    ['sizes --samples 0.5', 'whole number'],
    ['tenants --stores 10,none', 'whole number'],
    ['tenants --stores 10,10', 'twice'],
    ['everything', 'too many arguments'],
  ] as const) {
    const { code, out, err } = await bench(...options.split(' '))
    expect([code, out, err.trimEnd().split('\n').length]).toEqual([1, '', 1])
    expect(err).toContain(sentence)
  }
})
