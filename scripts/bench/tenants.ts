/** `npm run bench -- tenants`: what many stores cost, those that are used and those that are not. */
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import type { Job } from '#runtime/job'
import { type App, openApp } from '#runtime/server/app'
import { silentLog } from '#runtime/server/log'
import { readSettings } from '#runtime/server/settings'
import { type ThrowawayPostgres, throwawayPostgres } from '#scripts/cli/postgres'
import type { Progress } from '#scripts/cli/progress'
import { machine, type Results } from './report.ts'
import { type ClockJob, clockJobs, costOfEach, type Look, look } from './tenants/clock-jobs.ts'
import { type ActiveStore, connectStores, fillStores } from './tenants/fill.ts'
import { type Growth, growthOf, inMiB, type Lag, lagSince, sizesOf } from './tenants/growth.ts'
import { type Memory, memoryOf, withGateway } from './tenants/processes.ts'
import { sendTraffic, type Traffic } from './tenants/traffic.ts'
import { withWorker } from './worker-process.ts'

export interface TenantsOptions {
  stores: readonly number[]
  /** Of the largest; fewer stores have as many fewer. */
  contacts: number
  active: number
  /** Of traffic, and of a worker beside it. */
  minutes: number
  /** Requests of an active store in a minute. */
  rate: number
}

export interface TenantsLine {
  stores: number
  contacts: number
  active: number
  fillSeconds: number
  databaseMiB: number
  jobs: ClockJob[]
  traffic: Traffic
  /** From when a job was due to when it began: all fan-outs come due as the worker starts. */
  lag: { ofTheClock: Lag; others: Lag }
  growth: Growth
  gateway: Memory | null
  worker: Memory | null
  /** How busy the machine was, when the line was done. */
  loadAverage: number
}

export interface Tenants {
  startedAt: string
  machine: Results['machine']
  minutes: number
  rate: number
  lines: TenantsLine[]
}

export async function measureTenants(options: TenantsOptions, progress: Progress): Promise<Tenants> {
  const startedAt = new Date().toISOString()
  const largest = Math.max(...options.stores)
  const lines: TenantsLine[] = []
  let postgres = ''
  try {
    for (const stores of options.stores) {
      const sizes = {
        stores,
        contacts: Math.round((options.contacts * stores) / largest),
        active: Math.min(options.active, stores),
      }
      const cluster = await throwawayPostgres()
      const home = mkdtempSync(join(tmpdir(), 'merchant-tenants-'))
      const removeHome = (): void => rmSync(home, { recursive: true, force: true })
      process.once('exit', removeHome)
      try {
        const measured = await measureSize({ cluster, home, sizes, options, progress })
        lines.push(measured.line)
        postgres = measured.postgres
      } finally {
        await cluster.stop()
        process.off('exit', removeHome)
        removeHome()
      }
    }
  } finally {
    progress.end()
  }
  const { minutes, rate } = options
  return { startedAt, machine: machine(postgres), minutes, rate, lines }
}

interface Place {
  cluster: ThrowawayPostgres
  home: string
  sizes: { stores: number; contacts: number; active: number }
  options: TenantsOptions
  progress: Progress
}

/** The environment of servers as they are run: limits and connections are those that nobody sets. */
const settingsOf = ({ cluster, home }: Place) => ({
  DATABASE_URL: cluster.url,
  DATA_DIR: home,
  NODE_ENV: 'production',
  SECRET_KEY: 'a secret key that only the benchmark uses',
  TRUST_PROXY: '1',
  PORT: '0',
})

async function measureSize(place: Place): Promise<{ line: TenantsLine; postgres: string }> {
  const { cluster, sizes, progress } = place
  const title = `${sizes.stores} stores`
  // Nobody waits for what is filled in bulk as one waits for an answer.
  const database = openPostgres(cluster.url, { reads: 2, transactions: 4 }).patient
  try {
    await migrate(database)
    const app = await openApp({
      settings: await readSettings(settingsOf(place)),
      log: silentLog(),
      database,
      supervise: false,
      shared: true,
    })
    try {
      progress.begin(`${title}: filling`, 0)
      const beganAt = performance.now()
      const active = await fillStores(database, sizes)
      const fillSeconds = (performance.now() - beganAt) / 1000
      const databaseMiB = inMiB((await sizesOf(database)).database)
      // What it still has to do after so much was filled would be told as the cost of what is measured.
      await autovacuum(database, 'off')
      const jobs = await measureJobs(place, app)
      await autovacuum(database, 'on')
      progress.begin(`${title}: traffic`, 0)
      const used = await measureUse(place, database, active, jobs)
      const [row] = await database.query<{ server_version: string }>('show server_version', [])
      const line = { ...sizes, fillSeconds, databaseMiB, jobs, ...used, loadAverage: loadavg()[0]! }
      return { line, postgres: row!.server_version }
    } finally {
      await app.close()
    }
  } finally {
    await database.close()
  }
}

async function autovacuum(database: Database, how: 'on' | 'off'): Promise<void> {
  await database.query(`alter system set autovacuum = ${how}`, [])
  await database.query('select pg_reload_conf()', [])
}

/** So long a worker does what one look has queued; of more it does a part. */
const drainsMs = 30_000

async function measureJobs(place: Place, app: App): Promise<ClockJob[]> {
  const { cluster, sizes, progress } = place
  const jobs = clockJobs(app)
  const looks = async (title: string): Promise<Map<string, Look>> => {
    progress.begin(`${sizes.stores} stores: ${title}`, jobs.length, 'jobs')
    const found = new Map<string, Look>()
    for (const [n, job] of jobs.entries()) {
      progress.at(n, job.name)
      found.set(job.name, await look(app, cluster.dataDir, job))
      await emptyQueue(app.services.database)
    }
    return found
  }
  await looks('warming up')
  const quiet = await looks('all quiet')
  await connectStores(app.services.database)
  const connected = await looks('all connected')
  const each = await withWorker(settingsOf(place), async (worker) => {
    const costs = new Map<string, number | null>()
    await putOff(app.services.database, jobs)
    await emptyQueue(app.services.database)
    const queueing = jobs.filter(({ name }) => connected.get(name)!.queued > 0)
    progress.begin(`${sizes.stores} stores: what they queue`, queueing.length, 'jobs')
    for (const [n, job] of queueing.entries()) {
      progress.at(n, job.name)
      await look(app, cluster.dataDir, job)
      costs.set(job.name, await costOfEach(app, cluster.dataDir, worker.pid!, nameOfEach(job), drainsMs))
      await emptyQueue(app.services.database)
    }
    return costs
  })
  await emptyQueue(app.services.database)
  return jobs.map(({ name, spec: { everySeconds } }) =>
    withHour({
      name,
      everySeconds: everySeconds!,
      quiet: quiet.get(name)!,
      connected: connected.get(name)!,
      eachCpuMs: each.get(name) ?? null,
    }),
  )
}

const nameOfEach = ({ name }: Job): string => name.replace(/-all$/, '')

function withHour(job: Omit<ClockJob, 'jobsAnHour' | 'hourCpuMs'>): ClockJob {
  const looksAnHour = 3600 / job.everySeconds
  const { queued, cpuMs } = job.connected
  const jobsAnHour = queued * looksAnHour
  const hourCpuMs = cpuMs === null ? null : cpuMs * looksAnHour + jobsAnHour * (job.eachCpuMs ?? 0)
  return { ...job, jobsAnHour, hourCpuMs }
}

/** What was deleted would lie before what is queued next: each claim would step over it. */
async function emptyQueue(database: Database): Promise<void> {
  await database.query(`delete from pgboss.job where state <> 'active'`, [])
  await database.query('vacuum analyze pgboss.job_common', [])
}

/** As if each had just run: nothing of the clock disturbs what is measured. */
async function putOff(database: Database, jobs: readonly Job[]): Promise<void> {
  await database.query(
    `insert into job_schedules (name, next_at)
     select name, now() + seconds * interval '1 second' from unnest($1::text[], $2::integer[]) as j(name, seconds)
     on conflict (name) do update set next_at = excluded.next_at`,
    [jobs.map(({ name }) => name), jobs.map(({ spec }) => spec.everySeconds!)],
  )
}

/** A gateway and a worker, and all that the clock has due at once as the worker starts. */
async function measureUse(
  place: Place,
  database: Database,
  active: readonly ActiveStore[],
  jobs: readonly ClockJob[],
): Promise<Pick<TenantsLine, 'traffic' | 'lag' | 'growth' | 'gateway' | 'worker'>> {
  const { rate, minutes } = place.options
  const ofTheClock = jobs.flatMap(({ name }) => [name, name.replace(/-all$/, '')])
  await database.query('vacuum full pgboss.job_common', [])
  const before = await sizesOf(database)
  return withGateway(settingsOf(place), async (gateway) => {
    await database.query('delete from job_schedules', [])
    const since = new Date()
    return withWorker(settingsOf(place), async (worker) => {
      const traffic = await sendTraffic(gateway.url, active, rate, minutes * 60_000)
      return {
        traffic,
        lag: {
          ofTheClock: await lagSince(database, since, ofTheClock, 'clock'),
          others: await lagSince(database, since, ofTheClock, 'others'),
        },
        growth: growthOf(before, await sizesOf(database)),
        gateway: memoryOf(gateway.pid),
        worker: memoryOf(worker.pid!),
      }
    })
  })
}
