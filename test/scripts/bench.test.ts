/** `npm run bench` measures all three servers on the same answers, and the calls of large stores, here of small ones; the numbers themselves are no test's business. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { benchProgram } from '#scripts/bench'
import { Answers } from '#scripts/bench/load'
import type { Results } from '#scripts/bench/report'
import type { Sizes } from '#scripts/bench/sizes'
import { findPostgres } from '#scripts/cli/postgres'
import { type Ran, run } from '#test/support/command'

const bench = (...options: string[]): Promise<Ran> => run(benchProgram, options)

/** What a run printed, which must have succeeded; on standard error it may tell how far it is. */
async function printed(...options: string[]): Promise<string> {
  const { code, out, err } = await bench(...options)
  expect([code, err.replaceAll(/^(Measuring|conversions \(1 of 1\)).*\n/gm, '')]).toEqual([0, ''])
  return out
}

/** Each starts a PostgreSQL of its own, whichever database the other tests run on: once is enough. */
const isElsewhere = !findPostgres() || process.env.TEST_DATABASE_URL !== undefined

test.skipIf(isElsewhere)('a table, and the same as JSON', { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bench-test-'))
  try {
    const file = join(folder, 'results.json')
    const stdout = await printed(
      ...'--seconds 0.15 --rounds 1 --connections 4 --stores 3 --json'.split(' '),
      file,
    )
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
      expect(line.transactions).toBeGreaterThan(0)
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
  const none = new Answers(() => undefined)
  expect(() => none.read('HTTP/1.1 200 OK\r\n\r\n')).toThrow('no Content-Length')
})

test('an option that makes no sense is refused with a sentence', async () => {
  for (const [options, sentence] of [
    ['--rounds 0', 'whole number'],
    ['--seconds none', 'number of seconds'],
    ['--only everything', 'read, list, create, forbidden'],
    ['sizes --only nothing', 'conversions'],
    ['sizes --samples 0.5', 'whole number'],
    ['everything', 'too many arguments'],
  ] as const) {
    const { code, out, err } = await bench(...options.split(' '))
    expect([code, out, err.trimEnd().split('\n').length]).toEqual([1, '', 1])
    expect(err).toContain(sentence)
  }
})
