/** Medians of the rounds, as a table and as JSON. */
import { cpus, totalmem } from 'node:os'
import { type Column, table } from '#scripts/cli/table'
import type { Output, Style } from '#scripts/cli/terminal'
import { type OperationName, type TargetName, targetNames } from './kinds.ts'
import { operations } from './operations.ts'
import type { Measurement } from './rounds.ts'

export interface Line {
  operation: OperationName
  target: TargetName
  /** Medians of the rounds; times per request. */
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
  p999Ms: number
  /** Transactions that PostgreSQL counted, each statement outside of one as its own. */
  transactions: number
  serverCpuMicros: number
  postgresCpuMicros: number | null
}

export interface Comparison {
  operation: OperationName
  /** The gateway's requests a second over the peer's: median of the rounds' own ratios. */
  ofBare: number
  ofFastify: number
  wantedOfBare: number
  wantedOfFastify: number
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
    for (const target of targetNames) {
      const own = measurements.filter((each) => each.operation === operation && each.target === target)
      const middle = (pick: (each: Measurement) => number): number => rounded(median(own.map(pick)))
      lines.push({
        operation,
        target,
        requestsPerSecond: middle((each) => each.requestsPerSecond),
        p50Ms: middle((each) => each.p50Ms),
        p99Ms: middle((each) => each.p99Ms),
        p999Ms: middle((each) => each.p999Ms),
        transactions: middle((each) => each.transactions),
        serverCpuMicros: middle((each) => each.serverCpuMicros),
        postgresCpuMicros: own.some((each) => each.postgresCpuMicros === null)
          ? null
          : middle((each) => each.postgresCpuMicros ?? 0),
      })
    }
  }
  return lines
}

export function comparisonsOf(measurements: readonly Measurement[]): Comparison[] {
  return [...new Set(measurements.map((each) => each.operation))].map((operation) => {
    const of = (peer: TargetName): number => {
      const mine = measurements.filter((each) => each.operation === operation && each.target === 'gateway')
      const ratios = mine.map(({ round, requestsPerSecond }) => {
        const theirs = measurements.find(
          (each) => each.operation === operation && each.target === peer && each.round === round,
        )
        return requestsPerSecond / theirs!.requestsPerSecond
      })
      return rounded(median(ratios))
    }
    const { ofBare: wantedOfBare } = operations[operation]
    const ofBare = of('bare')
    const ofFastify = of('fastify')
    const reached = ofBare >= wantedOfBare && ofFastify >= 1
    return { operation, ofBare, ofFastify, wantedOfBare, wantedOfFastify: 1, reached }
  })
}

const numbers = (...titles: string[]): Column[] => titles.map((title) => ({ title, kind: 'number' }))
const isReached = (cell: string): Style => (cell === 'reached' ? 'green' : 'red')

const lineColumns: Column[] = [
  { title: 'operation', kind: 'text' },
  { title: 'server', kind: 'exact' },
  ...numbers('req/s', 'p50 ms', 'p99 ms', 'p99.9 ms', 'database calls', 'server µs', 'database µs'),
]

const comparisonColumns: Column[] = [
  { title: 'gateway', kind: 'text' },
  ...numbers('of bare', 'wanted', 'of Fastify', 'wanted'),
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
    line.transactions.toFixed(2),
    line.serverCpuMicros.toFixed(1),
    line.postgresCpuMicros?.toFixed(1) ?? '–',
  ])
  const ratioRows = comparisons.map((each) => [
    operations[each.operation].title,
    each.ofBare.toFixed(2),
    each.wantedOfBare.toFixed(2),
    each.ofFastify.toFixed(2),
    each.wantedOfFastify.toFixed(2),
    each.reached ? 'reached' : 'short',
  ])
  return [
    ...table(output, lineColumns, rows),
    '',
    ...table(output, comparisonColumns, ratioRows),
    '',
    'Database calls and µs of the processor: of a request, of the server and of PostgreSQL.',
  ].join('\n')
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const rounded = (value: number): number => Math.round(value * 1000) / 1000
