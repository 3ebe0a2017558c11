/** `npm run bench -- sizes`: calls with a time limit, on large stores, warm, one at a time. */
import { readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { type Services, SystemContext } from '#runtime/context'
import { openApp } from '#runtime/server/app'
import { silentLog } from '#runtime/server/log'
import { readSettings } from '#runtime/server/settings'
import type { Progress } from '#scripts/cli/progress'
import { type Column, table } from '#scripts/cli/table'
import type { Output, Style } from '#scripts/cli/terminal'
import { connectNumber } from '#scripts/seed/connect-number'
import { type Area, type JobCheck, type Shop, timed, type World } from './area.ts'
import { benchSecret, openStore, withThrowaway } from './fixture.ts'
import { percentile } from './load.ts'
import { measureCpu, type Target, withTarget } from './processes.ts'

export interface SizesOptions {
  only: readonly string[]
  /** Overrides each area's own number. */
  rows?: number
  samples: number
}

/** The measurement of one call. Limits are null if there is none. */
interface SizeLine {
  area: string
  rows: number
  name: string
  p50Ms: number
  p95Ms: number
  /** The number of runs; one for a job. */
  samples: number
  atMostMs: number | null
  /** CPU time per answer or job, including PostgreSQL's, which a busy machine does not inflate. */
  cpuMs: number | null
  /** Peak memory of the worker that ran the job. */
  peakMiB: number | null
  atMostMiB: number | null
  reached: boolean
}

export interface Sizes {
  lines: SizeLine[]
}

const folder = join(import.meta.dirname, 'sizes')
export const areaNames: readonly string[] = readdirSync(folder)
  .map((file) => file.slice(0, -'.ts'.length))
  .sort()

/** Fills a new PostgreSQL server for each area and measures it. */
export async function measureSizes(options: SizesOptions, progress: Progress): Promise<Sizes> {
  const lines: SizeLine[] = []
  try {
    for (const name of options.only) {
      progress.begin(`${name}: filling`, 0)
      const { default: area } = (await import(join(folder, `${name}.ts`))) as { default: Area }
      const rows = options.rows ?? area.rows
      const report = (measured: Measured) => lines.push({ area: name, rows, ...toSizeLine(measured) })
      await measureArea(area, { ...options, rows }, progress, report)
    }
  } finally {
    progress.end()
  }
  return { lines }
}

type Measured = { name: string; times: readonly number[] } & Partial<
  Pick<SizeLine, 'atMostMs' | 'cpuMs' | 'peakMiB' | 'atMostMiB'>
>

function toSizeLine(measured: Measured): Omit<SizeLine, 'area' | 'rows'> {
  const { name, times, atMostMs = null, cpuMs = null, peakMiB = null, atMostMiB = null } = measured
  const p95Ms = percentile(times, 0.95)
  const isWithin = (value: number | null, atMost: number | null): boolean =>
    value === null || atMost === null || value <= atMost
  const reached = isWithin(p95Ms, atMostMs) && isWithin(peakMiB, atMostMiB)
  const shown = { name, p50Ms: percentile(times, 0.5), p95Ms, samples: times.length }
  return { ...shown, atMostMs, cpuMs, peakMiB, atMostMiB, reached }
}

function measureArea(
  area: Area,
  { rows, samples }: { rows: number; samples: number },
  progress: Progress,
  report: (measured: Measured) => void,
): Promise<void> {
  return withThrowaway(async ({ url, dataDir }, home) => {
    const fixture = { databaseUrl: url, folder: home, clients: 3, limit: 999_999_999 }
    const fixturePath = join(home, 'fixture.json')
    writeFileSync(fixturePath, JSON.stringify(fixture))
    const cpuOfTarget = <T>(target: Target, run: () => Promise<T>) =>
      measureCpu(dataDir, async () => (await target.use()).cpuMicros, run)
    // Filling a large store takes longer than the timeout of requests.
    const database = openPostgres(url, { reads: 1, transactions: 4 }).longRunning
    try {
      const { shop, ids } = await prepare(area, rows, database, fixturePath, report)
      const jobs = area.jobs?.(ids, rows) ?? []
      await withTarget('gateway', fixturePath, async (gateway) => {
        const checks = area.checks?.(ids, rows) ?? []
        progress.begin('Measuring', checks.length + jobs.length, 'calls')
        for (const [n, [name, path, atMostMs]] of checks.entries()) {
          progress.at(n, name)
          const call = (): Promise<void> => send(gateway.url, shop.key, path)
          await measureRuns(call, warmUps)
          const { answer: times, cpuMs } = await cpuOfTarget(gateway, () => measureRuns(call, samples))
          report({ name, times, atMostMs, cpuMs: cpuMs && cpuMs / times.length })
        }
        for (const [n, job] of jobs.entries()) {
          progress.at(checks.length + n, job.name)
          await withTarget('worker', fixturePath, async (worker) => {
            const run = (): Promise<number> => timed(() => runJob(database, gateway.url, shop, job))
            const { answer: ms, cpuMs } = await cpuOfTarget(worker, run)
            report({ ...job, times: [ms], cpuMs, peakMiB: (await worker.use()).peakMiB })
          })
        }
      })
    } finally {
      await database.close()
    }
  })
}

async function prepare(
  area: Area,
  rows: number,
  database: Database,
  fixturePath: string,
  report: (measured: Measured) => void,
): Promise<{ shop: Shop; ids: Record<string, string> }> {
  await migrate(database)
  const settings = await readSettings({ DATA_DIR: dirname(fixturePath), SECRET_KEY: benchSecret })
  const app = await openApp({ settings, log: silentLog(), database, supervise: false, shared: true })
  const world: World = {
    ...{ database, services: app.services, rows },
    open: (slug, phone) => openShop(database, app.services, slug, phone),
    async fill({ storeId }, count, statements) {
      for (const text of statements) await database.query(fillTemplate(text, storeId, count), [])
    },
    report: (name, atMostMs, times) => report({ name, times, atMostMs }),
    withWorker: (step) => withTarget('worker', fixturePath, step),
  }
  try {
    const { fill = [], neighbours = 0, phone } = area
    const shop = await world.open('bench', phone)
    await world.fill(shop, rows, fill)
    for (let n = 1; n <= neighbours; n += 1) await world.fill(await world.open(`neighbour-${n}`), 500, fill)
    const ids = (await area.prepare?.(world, shop)) ?? {}
    // Brings the tables into the state in which autovacuum leaves older ones.
    await database.query('vacuum analyze', [])
    return { shop, ids }
  } finally {
    await app.close()
  }
}

const fillTemplate = (text: string, storeId: string, rows: number): string =>
  text.replaceAll('{store}', `'${storeId}'::uuid`).replaceAll('{rows}', String(rows))

async function openShop(database: Database, services: Services, slug: string, phone?: string): Promise<Shop> {
  const store = await openStore(database, slug)
  const ctx = (await new SystemContext(services, services.log, 'bench').forStore(store.storeId))!
  await ctx.db.updateTable('usage_cycles').set({ message_limit: 1_000_000 }).execute()
  if (phone) await connectNumber(ctx, { type: 'qr', phone })
  return { ...store, ctx }
}

/** Runs a job: sends the call that queues it, and waits for the row that marks it as done. */
async function runJob(database: Database, url: string, { storeId, key }: Shop, job: JobCheck): Promise<void> {
  const startedAt = performance.now()
  await send(url, key, job.path, job.body)
  while ((await database.query(fillTemplate(job.done, storeId, 0), [])).length === 0) {
    if (performance.now() - startedAt > 15 * 60_000) throw new Error(`${job.name}: not done after 15 minutes`)
    await wait(100)
  }
}

async function send(url: string, key: string, path: string, body?: unknown): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`)
}

/** The number of warm-up calls: after five, PostgreSQL decides whether to use a generic plan. */
const warmUps = 7

/** The time of each run; a call of many seconds is run at least five times. */
async function measureRuns(run: () => Promise<unknown>, count: number): Promise<number[]> {
  const times: number[] = []
  const startedAt = performance.now()
  while (times.length < count) {
    times.push(await timed(run))
    if (times.length >= 5 && performance.now() - startedAt > 20_000) break
  }
  return times
}

const reachedStyle = (cell: string): Style => (cell === 'reached' ? 'green' : 'red')
const columns: Column[] = [
  { title: 'area', kind: 'exact' },
  { title: 'what', kind: 'text' },
  ...['p50 ms', 'p95 ms', 'at most', 'cpu ms', 'peak MiB'].map(
    (title): Column => ({ title, kind: 'number' }),
  ),
  { title: '', kind: 'exact', style: reachedStyle },
]

export function sizesTable(output: Output, { lines }: Sizes): string {
  const shown = (value: number | null, digits = 0): string => value?.toFixed(digits) ?? '–'
  const rows = lines.map((line, index) => [
    lines[index - 1]?.area === line.area ? '' : `${line.area} (${line.rows})`,
    line.name,
    line.p50Ms.toFixed(1),
    line.p95Ms.toFixed(1),
    shown(line.atMostMs),
    shown(line.cpuMs, 1),
    line.atMostMiB === null ? shown(line.peakMiB) : `${shown(line.peakMiB)} of ${line.atMostMiB}`,
    line.reached ? 'reached' : 'short',
  ])
  return table(output, columns, rows).join('\n')
}
