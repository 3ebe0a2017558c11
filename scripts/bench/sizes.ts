/** `npm run bench -- sizes`: the calls that have a time, on large stores, warm, one at a time. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { openApp } from '#runtime/server/app'
import { silentLog } from '#runtime/server/log'
import { readSettings } from '#runtime/server/settings'
import { throwawayPostgres } from '#scripts/cli/postgres'
import type { Progress } from '#scripts/cli/progress'
import { type Column, table } from '#scripts/cli/table'
import type { Output, Style } from '#scripts/cli/terminal'
import type { Area, Call, Measure } from './area.ts'
import { startTarget, type Target } from './child.ts'
import { postgresCpuMicros } from './cpu.ts'
import { machine, type Results } from './report.ts'
import { gatewaySettings } from './statements.ts'
import { runInWorker, withWorker } from './worker-process.ts'

export interface SizesOptions {
  only: readonly string[]
  /** Instead of each area's own number. */
  rows?: number
  samples: number
}

export interface SizeLine {
  area: string
  name: string
  rows: number
  /** Of a step or a job there is one time. */
  p50Ms: number
  p95Ms: number
  samples: number
  atMostMs: number | null
  /** Of the servers and PostgreSQL, for one answer or the whole step: what a busy machine does not stretch. */
  cpuMs: number | null
  /** The same rows by a SELECT alone. */
  bareP50Ms: number | null
  /** Of the process that ran the job. */
  peakMiB: number | null
  atMostMiB: number | null
  /** Null where it has no time. */
  reached: boolean | null
  /** How busy the machine was: of the last minute, when the line was done. */
  loadAverage: number
}

export interface Sizes {
  startedAt: string
  machine: Results['machine']
  lines: SizeLine[]
}

const folder = join(import.meta.dirname, 'sizes')
export const areaNames: readonly string[] = readdirSync(folder)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort()

/** Fills a server of its own for each area and measures it. */
export async function measureSizes(options: SizesOptions, progress: Progress): Promise<Sizes> {
  const startedAt = new Date().toISOString()
  const lines: SizeLine[] = []
  let postgres = ''
  try {
    for (const [n, name] of options.only.entries()) {
      const { default: area } = (await import(join(folder, `${name}.ts`))) as { default: Area }
      const title = `${name} (${n + 1} of ${options.only.length})`
      progress.begin(`${title}: filling`, 0)
      const told = (line: SizeLine): void => void lines.push(line)
      postgres = await measureArea(area, options, told, (call, done, all) => {
        if (done === 0) progress.begin(title, all, 'calls')
        progress.at(done, call)
      })
    }
  } finally {
    progress.end()
  }
  return { startedAt, machine: machine(postgres), lines }
}

type Told = Pick<SizeLine, 'name' | 'p50Ms' | 'p95Ms' | 'samples' | 'atMostMs' | 'cpuMs'> &
  Partial<Pick<SizeLine, 'bareP50Ms' | 'peakMiB' | 'atMostMiB'>>

/** Milliseconds of the processor that a run took of PostgreSQL and of what `ownMicros` counts; null but on Linux. */
type CpuOf = <T>(
  run: () => Promise<T>,
  ownMicros: () => Promise<number>,
) => Promise<{ cpuMs: number | null; answer: T }>

type Place = Parameters<typeof gatewaySettings>[0]

/** Answers the version of the server. `onCall` hears of each call and job, once all is filled, before it is measured. */
async function measureArea(
  area: Area,
  { rows = area.rows, samples }: SizesOptions,
  onLine: (line: SizeLine) => void,
  onCall: (name: string, done: number, all: number) => void,
): Promise<string> {
  const tell = (told: Told): void => {
    const line = { bareP50Ms: null, peakMiB: null, atMostMiB: null, ...told }
    const isWithin = (value: number | null, atMost: number | null): boolean =>
      value === null || atMost === null || value <= atMost
    const reached =
      line.atMostMs === null && line.atMostMiB === null
        ? null
        : isWithin(line.p95Ms, line.atMostMs) && isWithin(line.peakMiB, line.atMostMiB)
    onLine({ area: area.name, rows, ...line, reached, loadAverage: loadavg()[0]! })
  }
  const cluster = await throwawayPostgres()
  const cpuOf: CpuOf = async (run, ownMicros) => {
    const before = postgresCpuMicros(cluster.dataDir)
    const ownBefore = await ownMicros()
    const answer = await run()
    const own = (await ownMicros()) - ownBefore
    const after = postgresCpuMicros(cluster.dataDir)
    return { cpuMs: before === null || after === null ? null : (after - before + own) / 1000, answer }
  }
  const home = mkdtempSync(join(tmpdir(), 'merchant-sizes-'))
  const removeHome = (): void => rmSync(home, { recursive: true, force: true })
  process.once('exit', removeHome)
  const place = { databaseUrl: cluster.url, folder: home, clients: 3 }
  // What fills a large store takes longer than a request may.
  const database = openPostgres(cluster.url, { reads: 1, transactions: 4 }).patient
  try {
    const filled = await prepare(area, { database, place, rows, cpuOf }, tell)
    const fixture = join(home, 'fixture.json')
    writeFileSync(fixture, JSON.stringify(place))
    const gateway = await startTarget('gateway', fixture)
    try {
      const measures = area.measures(filled)
      const jobs = area.jobs?.(filled) ?? []
      const all = measures.length + jobs.length
      for (const [n, measure] of measures.entries()) {
        onCall(measure.name, n, all)
        tell(await sampled(database, gateway, cpuOf, measure, samples))
      }
      for (const [n, job] of jobs.entries()) {
        onCall(job.name, measures.length + n, all)
        const { ms, peakMiB, cpuMs } = await runInWorker(
          database,
          cluster.dataDir,
          gatewaySettings(place),
          job,
          () => send(gateway.url, job),
        )
        const { name, atMostMs, atMostMiB } = job
        tell({ name, p50Ms: ms, p95Ms: ms, samples: 1, atMostMs, cpuMs, peakMiB, atMostMiB })
      }
    } finally {
      await gateway.stop()
    }
    const [row] = await database.query<{ server_version: string }>('show server_version', [])
    return row!.server_version
  } finally {
    await database.close()
    await cluster.stop()
    process.off('exit', removeHome)
    removeHome()
  }
}

async function prepare(
  area: Area,
  { database, place, rows, cpuOf }: { database: Database; place: Place; rows: number; cpuOf: CpuOf },
  tell: (told: Told) => void,
): Promise<unknown> {
  await migrate(database)
  const env = gatewaySettings(place)
  const settings = await readSettings({ DATA_DIR: place.folder, SECRET_KEY: env.SECRET_KEY })
  const app = await openApp({ settings, log: silentLog(), database, supervise: false, shared: true })
  try {
    const filled = await area.prepare(
      {
        database,
        services: app.services,
        async timed(name, atMostMs, step) {
          const { cpuMs, answer: done } = await cpuOf(() => timed(step), ownCpuMicros)
          tell({ name, p50Ms: done.ms, p95Ms: done.ms, samples: 1, atMostMs, cpuMs })
          return done.answer
        },
        told(name, atMostMs, times) {
          const [p50Ms, p95Ms] = [percentile(times, 0.5), percentile(times, 0.95)]
          tell({ name, p50Ms, p95Ms, samples: times.length, atMostMs, cpuMs: null })
        },
        withWorker: (step) => withWorker(env, step),
      },
      rows,
    )
    // What autovacuum has done to a table that has been there for a while.
    await database.query('vacuum analyze', [])
    return filled
  } finally {
    await app.close()
  }
}

async function ownCpuMicros(): Promise<number> {
  const { user, system } = process.cpuUsage()
  return user + system
}

async function timed<T>(run: () => Promise<T>): Promise<{ ms: number; answer: T }> {
  const startedAt = performance.now()
  const answer = await run()
  return { ms: performance.now() - startedAt, answer }
}

async function send(url: string, { path, key, body }: Call): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
}

/** More than five, so that a plan which the database keeps is the one measured. */
const warmUps = 7
/** A call of many seconds is not repeated for ever. */
const longestMs = 20_000

async function sampled(
  database: Database,
  gateway: Target,
  cpuOf: CpuOf,
  measure: Measure,
  samples: number,
): Promise<Told> {
  const { name, atMostMs, bare } = measure
  const own = (): Promise<void> => send(gateway.url, measure)
  const alone = (): Promise<unknown> => database.query(bare.text, bare.values)
  await repeated(own, warmUps)
  const { cpuMs, answer: times } = await cpuOf(
    () => repeated(own, samples),
    () => gateway.cpuMicros(),
  )
  await repeated(alone, warmUps)
  const bareTimes = await repeated(alone, samples)
  return {
    name,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    samples: times.length,
    atMostMs,
    cpuMs: cpuMs === null ? null : cpuMs / times.length,
    bareP50Ms: percentile(bareTimes, 0.5),
  }
}

/** The time of each run; what takes long is run at least five times. */
async function repeated(run: () => Promise<unknown>, count: number): Promise<number[]> {
  const times: number[] = []
  const startedAt = performance.now()
  while (times.length < count) {
    times.push((await timed(run)).ms)
    if (times.length >= 5 && performance.now() - startedAt > longestMs) break
  }
  return times
}

function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * part) - 1)]!
}

const isReached = (cell: string): Style | null =>
  cell === 'reached' ? 'green' : cell === 'short' ? 'red' : null

const columns: Column[] = [
  { title: 'area', kind: 'exact' },
  { title: 'what', kind: 'text' },
  ...['p50 ms', 'p95 ms', 'at most', 'cpu ms', 'bare ms', 'peak MiB', 'load'].map(
    (title): Column => ({ title, kind: 'number' }),
  ),
  { title: '', kind: 'exact', style: isReached },
]

export function sizesTable(output: Output, { lines }: Pick<Sizes, 'lines'>): string {
  const shown = (value: number | null, digits = 0): string => value?.toFixed(digits) ?? '–'
  const rows = lines.map((line, index) => [
    lines[index - 1]?.area === line.area ? '' : `${line.area} (${line.rows})`,
    line.name,
    line.p50Ms.toFixed(1),
    line.p95Ms.toFixed(1),
    shown(line.atMostMs),
    shown(line.cpuMs, 1),
    shown(line.bareP50Ms, 1),
    line.atMostMiB === null ? shown(line.peakMiB) : `${shown(line.peakMiB)} of ${line.atMostMiB}`,
    line.loadAverage.toFixed(1),
    line.reached === null ? '' : line.reached ? 'reached' : 'short',
  ])
  return table(output, columns, rows).join('\n')
}
