/** Medians of the rounds, as a table and as JSON. */
import { cpus, totalmem } from 'node:os'
import { type Column, table } from '#scripts/cli/table'
import type { Output, Style } from '#scripts/cli/terminal'
import type { OperationName, TargetName } from './kinds.ts'
import { operations, targetsOf } from './operations.ts'
import type { Measurement } from './rounds.ts'

export interface Line {
  operation: OperationName
  target: TargetName
  /** Medians of the rounds; times per request. */
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
  /** As in a measurement. */
  statements: number | null
  serverCpuMicros: number
  postgresCpuMicros: number | null
}

/** The gateway beside a peer: medians of the rounds' own ratios; null where the peer does not do this. */
export interface Comparison {
  operation: OperationName
  /** Requests a second, of those of `node:http` and postgres.js alone. */
  ofNode: number | null
  ofHono: number | null
  ofFastify: number
  /** Of Fastify's with the same guards. */
  ofGuarded: number
  /** The 99th percentile, in those of `node:http`. */
  p99OfNode: number | null
  /** At least as much as Fastify with the same guards, and a tail at most twice that of `node:http`. */
  reached: boolean
}

export interface Results {
  startedAt: string
  machine: { cpus: number; model: string; memoryGiB: number; node: string; postgres: string }
  seconds: number
  rounds: number
  connections: number
  databaseClients: number
  stores: number
  results: Line[]
  comparisons: Comparison[]
  measurements: Measurement[]
}

export const machine = (postgres: string): Results['machine'] => ({
  cpus: cpus().length,
  model: cpus()[0]?.model ?? 'unknown',
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  postgres,
})

export function linesOf(measurements: readonly Measurement[]): Line[] {
  const lines: Line[] = []
  for (const operation of new Set(measurements.map((each) => each.operation))) {
    for (const target of targetsOf(operation)) {
      const own = measurements.filter((each) => each.operation === operation && each.target === target)
      const middle = (pick: (each: Measurement) => number): number => rounded(median(own.map(pick)))
      const known = (pick: (each: Measurement) => number | null): number | null =>
        own.some((each) => pick(each) === null) ? null : middle((each) => pick(each)!)
      lines.push({
        operation,
        target,
        requestsPerSecond: middle((each) => each.requestsPerSecond),
        p50Ms: middle((each) => each.p50Ms),
        p99Ms: middle((each) => each.p99Ms),
        p999Ms: middle((each) => each.p999Ms),
        statements: known((each) => each.statements),
        serverCpuMicros: middle((each) => each.serverCpuMicros),
        postgresCpuMicros: known((each) => each.postgresCpuMicros),
      })
    }
  }
  return lines
}

export function comparisonsOf(measurements: readonly Measurement[]): Comparison[] {
  return [...new Set(measurements.map((each) => each.operation))].map((operation) => {
    const own = measurements.filter((each) => each.operation === operation)
    const of = (peer: TargetName, pick: (each: Measurement) => number): number | null => {
      const theirs = own.filter(({ target }) => target === peer)
      if (theirs.length === 0) return null
      const ratios = theirs.map((each) => {
        const mine = own.find(({ target, round }) => target === 'gateway' && round === each.round)
        return pick(mine!) / pick(each)
      })
      return rounded(median(ratios))
    }
    const perSecond = (each: Measurement): number => each.requestsPerSecond
    const ofGuarded = of('guarded', perSecond)!
    const p99OfNode = of('node', (each) => each.p99Ms)
    return {
      operation,
      ofNode: of('node', perSecond),
      ofHono: of('hono', perSecond),
      ofFastify: of('fastify', perSecond)!,
      ofGuarded,
      p99OfNode,
      reached: ofGuarded >= 1 && (p99OfNode === null || p99OfNode <= 2),
    }
  })
}

const numbers = (...titles: string[]): Column[] => titles.map((title) => ({ title, kind: 'number' }))
const isReached = (cell: string): Style => (cell === 'reached' ? 'green' : 'red')

const lineColumns: Column[] = [
  { title: 'operation', kind: 'text' },
  { title: 'server', kind: 'exact' },
  ...numbers('req/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'statements', 'server µs', 'database µs'),
]

const comparisonColumns: Column[] = [
  { title: 'gateway', kind: 'text' },
  ...numbers('of node', 'of Hono', 'of Fastify', 'of guarded', 'p99 of node'),
  { title: '', kind: 'exact', style: isReached },
]

export function tableOf(
  output: Output,
  { results, comparisons }: Pick<Results, 'results' | 'comparisons'>,
): string {
  const rows = results.map((line, index) => [
    results[index - 1]?.operation === line.operation ? '' : operations[line.operation].title,
    line.target,
    String(Math.round(line.requestsPerSecond)),
    line.p50Ms.toFixed(2),
    line.p99Ms.toFixed(2),
    line.p999Ms.toFixed(2),
    line.statements?.toFixed(2) ?? '–',
    line.serverCpuMicros.toFixed(1),
    line.postgresCpuMicros?.toFixed(1) ?? '–',
  ])
  const ratioRows = comparisons.map((each) => [
    operations[each.operation].title,
    ...[each.ofNode, each.ofHono, each.ofFastify, each.ofGuarded, each.p99OfNode].map(
      (ratio) => ratio?.toFixed(2) ?? '–',
    ),
    each.reached ? 'reached' : 'short',
  ])
  return [
    ...table(output, lineColumns, rows),
    '',
    ...table(output, comparisonColumns, ratioRows),
    '',
    'Statements and µs of the processor: of a request, of the server and of PostgreSQL.',
    'guarded: Fastify with the same guards, which counts the address too and logs.',
    'Reached: as many requests as that, and a p99 at most twice that of node:http.',
  ].join('\n')
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000

/** Prints a table and everything as JSON, and writes that to a file where one is named. */
export type Tell = (out: Output, shown: string, results: object, file: string | undefined) => void
