/** What `npm run bench -- citus` is told, and its tables. */
import { Command } from 'commander'
import { seconds, wholeFrom } from '#scripts/cli/options'
import { examples, newProgram } from '#scripts/cli/program'
import { showProgress } from '#scripts/cli/progress'
import { type Column, table } from '#scripts/cli/table'
import type { Output, Terminal } from '#scripts/cli/terminal'
import type { Load } from '../load.ts'
import type { Tell } from '../report.ts'
import { type CitusOptions, type CitusResults, measureCitus, measured } from './measure.ts'

const from1 = wholeFrom(1)

export const citusCommand = (terminal: Terminal, tell: Tell): Command =>
  new Command('citus')
    .copyInheritedSettings(newProgram(terminal, 'npm run bench -- citus'))
    .description(
      'Measures a read, a list, a create and a campaign on one throwaway PostgreSQL and on a throwaway Citus cluster ' +
        '(a coordinator and two workers on this machine), in turn in one run; then how stores of a power law lie on ' +
        'its shards. Prints tables, then everything as JSON.',
    )
    .option('--seconds <n>', 'length of each measurement, in seconds', seconds, 10)
    .option('--rounds <n>', 'measurements of each operation on each', from1, 3)
    .option('--connections <n>', 'connections that send requests', from1, 16)
    .option('--stores <n>', 'stores whose keys send in turn', from1, 200)
    .option('--people <n>', 'recipients of the campaign', from1, 100_000)
    .option('--jobs <n>', 'small jobs', from1, 20_000)
    .option('--tenants <n>', 'stores that are laid on the shards', from1, 10_000)
    .option('--contacts <n>', 'contacts of those, by a power law', from1, 1_000_000)
    .option('--json <file>', 'writes the JSON there too')
    .addHelpText(
      'after',
      examples(
        terminal,
        'npm run bench -- citus --json citus.json',
        'npm run bench -- citus --seconds 3 --rounds 1 --people 5000 --tenants 500 --contacts 20000',
      ),
    )
    .action(async ({ json, ...options }: CitusOptions & { json?: string }) => {
      const results = await measureCitus(options, showProgress(terminal.err))
      tell(terminal.out, citusTables(terminal.out, results), results, json)
    })

const columns: Column[] = [
  { title: 'what', kind: 'exact' },
  { title: 'one PostgreSQL', kind: 'number' },
  { title: 'Citus', kind: 'number' },
  { title: 'of it', kind: 'number' },
]

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

function citusTables(out: Output, { lines, balance }: CitusResults): string {
  const [single, cluster] = [lines[0]!, lines[1]!]
  const row = (title: string, one: number, other: number, digits: number): string[] => [
    title,
    ...[one, other].map((value) => value.toFixed(digits)),
    (other / one).toFixed(2),
  ]
  const requests = measured.flatMap((name) => {
    const of = (line: typeof single, pick: (load: Load) => number): number =>
      median(line.loads[name].map(pick))
    const both = (title: string, pick: (load: Load) => number, digits: number): string[] =>
      row(`${name}, ${title}`, of(single, pick), of(cluster, pick), digits)
    return [
      both('a second', (load) => load.requestsPerSecond, 0),
      both('p50 ms', (load) => load.p50Ms, 1),
      both('p99 ms', (load) => load.p99Ms, 1),
    ]
  })
  const people = single.campaign.people
  const campaign = row(
    `campaign to ${people}, a second`,
    single.campaign.messagesPerSecond,
    cluster.campaign.messagesPerSecond,
    0,
  )
  const jobs = row(
    `${single.jobs.jobs} small jobs, a second`,
    single.jobs.jobsPerSecond,
    cluster.jobs.jobsPerSecond,
    0,
  )
  const shares = [
    `${balance.stores} stores, ${balance.contacts} contacts by a power law, on ${balance.shards} shards:`,
    `  fullest ${balance.fullestShardMiB.toFixed(0)} MiB, mean ${balance.meanShardMiB.toFixed(0)} MiB; nodes ${balance.nodesMiB.map((size) => size.toFixed(0)).join(' and ')} MiB`,
    `  the largest store on shards of its own ${((balance.isolateMs ?? 0) / 1000).toFixed(1)} s, moved to the other node ${((balance.moveMs ?? 0) / 1000).toFixed(1)} s`,
  ]
  return [...table(out, columns, [...requests, campaign, jobs]), '', ...shares].join('\n')
}
