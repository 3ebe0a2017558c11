/** What runs by the clock: what one look at all stores costs, whom it queues a job for, and what such a job costs. */
import { setTimeout as wait } from 'node:timers/promises'
import { SystemContext } from '#runtime/context'
import type { Job } from '#runtime/job'
import type { App } from '#runtime/server/app'
import { postgresCpuMicros, processCpuMicros } from '../cpu.ts'

/** One look of a job of the server. */
export interface Look {
  ms: number
  /** Of this process and of PostgreSQL; null but on Linux. */
  cpuMs: number | null
  /** Jobs of stores, by name. */
  queued: number
}

export interface ClockJob {
  name: string
  everySeconds: number
  /** While no store is connected to a platform: every store is quiet. */
  quiet: Look
  connected: Look
  /** The processor's time for one job that it queued, of the worker and of PostgreSQL; null where none ran. */
  eachCpuMs: number | null
  /** Of them in an hour. */
  jobsAnHour: number
  /** Milliseconds of the processor in an hour, those jobs included. */
  hourCpuMs: number | null
}

/** Those of a server in production. */
export const clockJobs = (app: App): Job[] =>
  app.registry.jobs.filter(({ spec }) => spec.everySeconds !== undefined && !spec.sandboxOnly)

const leastMs = 300
const mostRuns = 20

/** Runs one as the worker would, again until it can be told what it takes; what it queues stays queued. */
export async function look(app: App, dataDir: string, job: Job): Promise<Look> {
  const system = new SystemContext(app.services, app.services.log, 'bench')
  const attempt = { jobId: '', number: 1, isLast: true, signal: new AbortController().signal }
  const cpuBefore = ownAnd(dataDir)
  const startedAt = performance.now()
  let runs = 0
  let queued = 0
  for (
    ;
    runs === 0 || (queued === 0 && runs < mostRuns && performance.now() - startedAt < leastMs);
    runs += 1
  ) {
    const before = await waiting(app)
    await job.spec.run(system as never, {}, attempt)
    queued = (await waiting(app)) - before
  }
  const ms = (performance.now() - startedAt) / runs
  const cpuAfter = ownAnd(dataDir)
  return {
    ms,
    cpuMs: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / 1000 / runs,
    queued,
  }
}

async function waiting(app: App): Promise<number> {
  const [row] = await app.services.database.query<{ jobs: number }>(
    `select count(*)::integer as jobs from pgboss.job where state < 'active'`,
    [],
  )
  return row!.jobs
}

/** Lets a worker that runs do what waits in a queue, for a while, and answers what one took; the rest stays queued. */
export async function costOfEach(
  app: App,
  dataDir: string,
  worker: number,
  name: string,
  atMostMs: number,
): Promise<number | null> {
  const { database } = app.services
  const left = async (): Promise<number> => {
    const [row] = await database.query<{ jobs: number }>(
      `select count(*)::integer as jobs from pgboss.job where name = $1 and state < 'completed'`,
      [name],
    )
    return row!.jobs
  }
  const before = await left()
  const cpuBefore = workerAnd(dataDir, worker)
  const startedAt = performance.now()
  let now = before
  while (now > 0 && performance.now() - startedAt < atMostMs) {
    await wait(200)
    now = await left()
  }
  const cpuAfter = workerAnd(dataDir, worker)
  const done = before - now
  return done <= 0 || cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / 1000 / done
}

function ownAnd(dataDir: string): number | null {
  const server = postgresCpuMicros(dataDir)
  const { user, system } = process.cpuUsage()
  return server === null ? null : server + user + system
}

function workerAnd(dataDir: string, pid: number): number | null {
  const [own, server] = [processCpuMicros(pid), postgresCpuMicros(dataDir)]
  return own === null || server === null ? null : own + server
}
