/** The curve as tables: a line for each size, and a line for each job of the clock at the largest. */
import { type Column, table } from '#scripts/cli/table'
import type { Output } from '#scripts/cli/terminal'
import type { Tenants, TenantsLine } from '../tenants.ts'

const numbers = (...titles: string[]): Column[] => titles.map((title) => ({ title, kind: 'number' }))

const shown = (value: number | null | undefined, digits = 0): string => value?.toFixed(digits) ?? '–'

type Row = readonly [string, (line: TenantsLine) => string]

const secondsAnHour = (line: TenantsLine, of: (job: TenantsLine['jobs'][number]) => number | null): string =>
  shown(line.jobs.reduce((sum, job) => sum + (of(job) ?? 0), 0) / 1000, 1)

const rows: readonly Row[] = [
  ['contacts', ({ contacts }) => shown(contacts)],
  ['database, MiB', ({ databaseMiB }) => shown(databaseMiB)],
  [
    'all quiet: looks of the clock, CPU s an hour',
    (line) => secondsAnHour(line, ({ quiet, everySeconds }) => ((quiet.cpuMs ?? 0) * 3600) / everySeconds),
  ],
  ['all quiet: jobs queued', ({ jobs }) => shown(jobs.reduce((sum, { quiet }) => sum + quiet.queued, 0))],
  [
    'all connected: looks of the clock, CPU s an hour',
    (line) =>
      secondsAnHour(line, ({ connected, everySeconds }) => ((connected.cpuMs ?? 0) * 3600) / everySeconds),
  ],
  [
    'all connected: jobs an hour',
    ({ jobs }) => shown(jobs.reduce((sum, { jobsAnHour }) => sum + jobsAnHour, 0)),
  ],
  [
    'all connected: looks and jobs, CPU s an hour',
    (line) => secondsAnHour(line, ({ hourCpuMs }) => hourCpuMs),
  ],
  ['requests', ({ traffic }) => shown(traffic.requests)],
  ['requests refused, failed', ({ traffic }) => `${traffic.refused}, ${traffic.failed}`],
  ['requests: p50, ms', ({ traffic }) => shown(traffic.p50Ms, 1)],
  ['requests: p99, ms', ({ traffic }) => shown(traffic.p99Ms, 1)],
  ['jobs of the clock begun', ({ lag }) => shown(lag.ofTheClock.jobs)],
  ['jobs of the clock: lag p50, s', ({ lag }) => seconds(lag.ofTheClock.p50Ms)],
  ['jobs of the clock: lag p99, s', ({ lag }) => seconds(lag.ofTheClock.p99Ms)],
  ['jobs of the clock: waiting at the end', ({ lag }) => shown(lag.ofTheClock.waiting)],
  ['other jobs begun', ({ lag }) => shown(lag.others.jobs)],
  ['other jobs: lag p50, s', ({ lag }) => seconds(lag.others.p50Ms)],
  ['other jobs: lag p99, s', ({ lag }) => seconds(lag.others.p99Ms)],
  ['other jobs: waiting at the end', ({ lag }) => shown(lag.others.waiting)],
  ['jobs failed', ({ lag }) => shown(lag.ofTheClock.failed + lag.others.failed)],
  ['database grew, MiB', ({ growth }) => shown(growth.databaseMiB, 1)],
  ['log of writes, MiB', ({ growth }) => shown(growth.walMiB, 1)],
  ['gateway, MiB (peak)', ({ gateway }) => `${shown(gateway?.MiB)} (${shown(gateway?.peakMiB)})`],
  ['worker, MiB (peak)', ({ worker }) => `${shown(worker?.MiB)} (${shown(worker?.peakMiB)})`],
  ['load of the machine', ({ loadAverage }) => loadAverage.toFixed(1)],
]

const seconds = (ms: number | null): string => shown(ms === null ? null : ms / 1000, 1)

export function tenantsTable(output: Output, { lines }: Pick<Tenants, 'lines'>): string {
  const columns: Column[] = [
    { title: 'stores', kind: 'exact' },
    ...numbers(...lines.map(({ stores }) => String(stores))),
  ]
  const curve = table(
    output,
    columns,
    rows.map(([name, of]) => [name, ...lines.map(of)]),
  )
  const largest = lines.reduce((a, b) => (b.stores > a.stores ? b : a))
  const jobColumns: Column[] = [
    { title: `job of the clock, ${largest.stores} stores`, kind: 'exact' },
    ...numbers('every s', 'quiet ms', 'queued', 'connected ms', 'queued', 'each cpu ms', 'cpu s an hour'),
  ]
  const jobs = largest.jobs.map(({ name, everySeconds, quiet, connected, eachCpuMs, hourCpuMs }) => [
    name,
    String(everySeconds),
    shown(quiet.ms, 1),
    String(quiet.queued),
    shown(connected.ms, 1),
    String(connected.queued),
    shown(eachCpuMs, 1),
    shown(hourCpuMs === null ? null : hourCpuMs / 1000, 1),
  ])
  const grown = lines.map(
    ({ stores, growth }) =>
      `${stores} stores, what grew: ${growth.tables.map(({ name, MiB }) => `${name} ${MiB.toFixed(1)} MiB`).join(', ')}`,
  )
  return [...curve, '', ...table(output, jobColumns, jobs), '', ...grown].join('\n')
}
