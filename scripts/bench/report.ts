/** Medians of the rounds, as a table and as JSON. */
import { type Column, table } from '#scripts/cli/table'
import type { Output } from '#scripts/cli/terminal'
import type { Measurement } from './compare.ts'
import { type OperationName, operations, type TargetName, targetNames } from './operations.ts'

const figures = [
  ['requestsPerSecond', 'req/s', 0],
  ['p50Ms', 'p50 ms', 2],
  ['p99Ms', 'p99 ms', 2],
  ['serverCpuMicros', 'server µs', 1],
  ['postgresCpuMicros', 'database µs', 1],
  ['ofThis', 'gateway of it', 2],
  ['p99OfThis', 'its p99 of it', 2],
] as const

/** Medians of the rounds; null if not measured. */
export type Line = { operation: OperationName; target: TargetName } & Record<
  (typeof figures)[number][0],
  number | null
>

export interface Results {
  results: Line[]
  measurements: Measurement[]
}

export function summarize(measurements: readonly Measurement[]): Line[] {
  return [...new Set(measurements.map(({ operation }) => operation))].flatMap((operation) =>
    targetNames.map((target) => {
      const own = measurements.filter((each) => each.operation === operation && each.target === target)
      const middle = (pick: (each: Measurement) => number | null): number | null => median(own.map(pick))
      /** The gateway's value in the same round: the machine may be busy in one of them. */
      const gatewayOf = ({ round }: Measurement): Measurement =>
        measurements.find(
          (each) => each.operation === operation && each.target === 'gateway' && each.round === round,
        )!
      return {
        operation,
        target,
        requestsPerSecond: middle((each) => each.requestsPerSecond),
        p50Ms: middle((each) => each.p50Ms),
        p99Ms: middle((each) => each.p99Ms),
        serverCpuMicros: middle((each) => each.serverCpuMicros),
        postgresCpuMicros: middle((each) => each.postgresCpuMicros),
        ofThis: middle((each) => gatewayOf(each).requestsPerSecond / each.requestsPerSecond),
        p99OfThis: middle((each) => gatewayOf(each).p99Ms / each.p99Ms),
      }
    }),
  )
}

const columns: Column[] = [
  { title: 'operation', kind: 'text' },
  { title: 'server', kind: 'exact' },
  ...figures.map(([, title]): Column => ({ title, kind: 'number' })),
]

export function resultsTable(output: Output, results: readonly Line[]): string {
  const rows = results.map((line, index) => [
    results[index - 1]?.operation === line.operation ? '' : operations[line.operation].title,
    line.target,
    ...figures.map(([name, , digits]) => line[name]?.toFixed(digits) ?? '–'),
  ])
  return [
    ...table(output, columns, rows),
    '',
    'µs: CPU time of a request. guarded: Fastify that also counts the address and logs, as the gateway does.',
    "gateway of it: the gateway's requests a second, divided by the server's.",
  ].join('\n')
}

function median(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  if (known.length < values.length) return null
  const middle = known.length >> 1
  return known.length % 2 === 1 ? known[middle]! : (known[middle - 1]! + known[middle]!) / 2
}
