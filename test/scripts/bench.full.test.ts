/** `npm run bench` runs, with small numbers: the figures themselves are not tested. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { benchProgram } from '#scripts/bench'
import { Answers } from '#scripts/bench/load'
import { operationNames, targetNames } from '#scripts/bench/operations'
import type { Results } from '#scripts/bench/report'
import type { Sizes } from '#scripts/bench/sizes'
import type { Tenants } from '#scripts/bench/tenants'
import { findPostgres } from '#scripts/cli/postgres'
import { type Ran, run } from '#test/support/command'

const bench = (options: string): Promise<Ran> => run(benchProgram, options.split(' '))

/** Runs a benchmark that must succeed; its JSON is the same in the output and in the file. */
async function measured<T>(options: string): Promise<{ out: string; results: T }> {
  const folder = mkdtempSync(join(tmpdir(), 'merchant-bench-test-'))
  try {
    const file = join(folder, 'results.json')
    const { code, out, err } = await bench(`${options} --json ${file}`)
    expect(code, err).toBe(0)
    const results: T = JSON.parse(readFileSync(file, 'utf8'))
    expect(JSON.parse(out.slice(out.indexOf('\n{')))).toEqual(results)
    return { out, results }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Each starts its own PostgreSQL. */
const isElsewhere = !findPostgres()
const countsCpu = existsSync('/proc/self/stat')

test.skipIf(isElsewhere)('every server gives the same answers and is measured', async () => {
  const { out, results } = await measured<Results>('--seconds 0.1 --rounds 1 --connections 4 --stores 100')
  expect(out).toMatch(/^operation\s+server\s+req\/s\s+p50 ms\s+p99 ms/m)
  expect(results.results.map(({ operation, target }) => `${operation} ${target}`)).toEqual(
    operationNames.flatMap((operation) => targetNames.map((target) => `${operation} ${target}`)),
  )
  for (const { operation, target, ...line } of results.results) {
    const own = results.measurements.find((each) => each.operation === operation && each.target === target)!
    const gateway = results.measurements.find(
      (each) => each.operation === operation && each.target === 'gateway',
    )!
    expect(line.requestsPerSecond).toBeGreaterThan(0)
    expect(line.p99Ms).toBeGreaterThanOrEqual(line.p50Ms!)
    expect(line.serverCpuMicros).toBeGreaterThan(0)
    expect(line.postgresCpuMicros === null).toBe(!countsCpu)
    expect(line.ofThis).toBeCloseTo(gateway.requestsPerSecond / own.requestsPerSecond, 2)
  }
})

test.skipIf(isElsewhere)('sizes measures each call with its limit, and the export', async () => {
  const { out, results } = await measured<Sizes>('sizes --only conversions --rows 500 --samples 2')
  expect(out).toMatch(/^area\s+what\s+p50 ms\s+p95 ms\s+at most\s+cpu ms\s+peak MiB/m)
  const [load, ...others] = results.lines
  expect(load).toMatchObject({ name: 'seed load of 500 conversions', rows: 500, samples: 1 })
  const job = others.pop()!
  expect(job).toMatchObject({ name: 'export of all conversions', samples: 1, atMostMiB: 256 })
  expect(job.peakMiB).toBeGreaterThan(0)
  expect(others.length).toBeGreaterThan(8)
  for (const line of others) {
    expect(line.samples, line.name).toBe(2)
    expect(line.p95Ms).toBeGreaterThanOrEqual(line.p50Ms)
    expect(line.cpuMs === null, line.name).toBe(!countsCpu)
    expect(line.reached, line.name).toBe(line.p95Ms <= line.atMostMs!)
  }
})

test.skipIf(isElsewhere)('tenants measures the jobs of quiet connected stores', async () => {
  const { out, results } = await measured<Tenants>('tenants --stores 2 --hours 2')
  expect(out).toMatch(/^of a store\s+\d/m)
  const { jobs, ofStores, cpuSeconds } = results.hours[1]!
  expect(cpuSeconds === null).toBe(!countsCpu)
  expect(jobs['carts-sync']).toBeGreaterThanOrEqual(2)
  expect(ofStores / 2, 'jobs of a quiet store in an hour').toBeLessThanOrEqual(3)
  expect(ofStores).toBeLessThan(Object.values(jobs).reduce((sum, count) => sum + count, 0))
})

test('answers are separated however they arrive; one without a length is refused', () => {
  const answer = (status: number, body: string): string =>
    `HTTP/1.1 ${status} Said\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  const sent = `${answer(200, '{"a":"\\r\\n"}')}${answer(403, '')}${answer(201, 'b'.repeat(70))}`
  for (const size of [1, 7, 50, sent.length]) {
    const statuses: number[] = []
    const answers = new Answers((status) => statuses.push(status))
    for (let at = 0; at < sent.length; at += size) answers.read(sent.slice(at, at + size))
    expect(statuses, `in pieces of ${size}`).toEqual([200, 403, 201])
  }
  const none = new Answers(() => undefined)
  expect(() => none.read('HTTP/1.1 200 OK\r\n\r\n')).toThrow('no Content-Length')
})

test('an invalid option is refused with a sentence', async () => {
  for (const [options, sentence] of [
    ['--rounds 0', 'whole number'],
    ['--stores 99', 'whole number from 100'],
    ['--seconds none', 'number of seconds'],
    ['--only everything', 'read, list, create'],
    ['sizes --only nothing', 'conversions'],
    ['sizes --samples 0.5', 'whole number'],
    ['tenants --hours none', 'whole number'],
    ['everything', 'too many arguments'],
  ] as const) {
    const { code, out, err } = await bench(options)
    expect([code, out, err.trimEnd().split('\n').length]).toEqual([1, '', 1])
    expect(err).toContain(sentence)
  }
})
