/** `npm run bench -- tenants`: jobs and CPU time per hour of quiet stores with a connected shop. */

import { migrate } from '#db/migrate'
import { openPostgres } from '#db/open'
import { machineClock } from '#runtime/clock'
import { minuteMs } from '#runtime/durations'
import { type App, openApp } from '#runtime/server/app'
import { silentLog } from '#runtime/server/log'
import { readSettings } from '#runtime/server/settings'
import type { Progress } from '#scripts/cli/progress'
import { type Column, table } from '#scripts/cli/table'
import type { Output } from '#scripts/cli/terminal'
import { gatewaySettings, openStore, withThrowaway } from './fixture.ts'
import { measureCpu } from './processes.ts'

interface Hour {
  /** Finished jobs, by queue. */
  jobs: Record<string, number>
  /** Jobs of stores; scheduled jobs run once for all stores. */
  ofStores: number
  /** CPU time of this process, which runs the jobs, and of PostgreSQL; null on systems other than Linux. */
  cpuSeconds: number | null
}

export interface Tenants {
  stores: number
  /** The first hour includes the one-time work of a new connection. */
  hours: Hour[]
}

export async function measureTenants(
  { stores, hours }: { stores: number; hours: number },
  progress: Progress,
): Promise<Tenants> {
  try {
    return await withThrowaway(async ({ url, dataDir }, folder) => {
      const settings = await readSettings(
        gatewaySettings({ databaseUrl: url, folder, clients: 2, limit: 100 }),
      )
      const database = openPostgres(url, { reads: 2, transactions: 6 })
      const clock = machineClock()
      clock.frozenAt = clock.ms()
      try {
        await migrate(database)
        progress.begin('Filling', 0)
        for (let n = 1; n <= stores; n += 1) await openStore(database, `bench-${n}`)
        // Connects to the sandbox's platform, which has no products, orders or carts for these stores.
        await database.query(
          `insert into connections (store_id, port, provider, connected_at, created_at, updated_at)
           select id, 'ecommerce', 'sandbox', now(), now(), now() from stores`,
          [],
        )
        await database.query('vacuum analyze', [])
        const app = await openApp({ settings, log: silentLog(), database, clock, supervise: false })
        try {
          const measured: Hour[] = []
          while (measured.length < hours) {
            progress.begin(`Hour ${measured.length + 1} of ${hours}`, 0)
            measured.push(await passHour(app, dataDir, (ms) => clock.advance(ms)))
          }
          return { stores, hours: measured }
        } finally {
          await app.close()
        }
      } finally {
        await database.close()
      }
    })
  } finally {
    progress.end()
  }
}

/** Advances the clock minute by minute and runs due jobs. */
async function passHour(app: App, dataDir: string, move: (ms: number) => void): Promise<Hour> {
  const before = await endedJobs(app)
  const { cpuMs } = await measureCpu(dataDir, ownCpuMicros, async () => {
    for (let minute = 0; minute < 60; minute += 1) {
      move(minuteMs)
      await app.services.queue.advance(minuteMs)
      app.worker.clockMoved()
      const { pending, failed } = await app.worker.drain(10 * minuteMs)
      if (pending > 0 || failed > 0) throw new Error(`${failed} jobs failed, ${pending} have not ended`)
    }
  })
  const jobs = await endedJobs(app)
  for (const [name, count] of Object.entries(before)) jobs[name]! -= count
  const clocked = new Set(app.registry.jobs.filter(({ spec }) => spec.everySeconds).map(({ name }) => name))
  const ofStores = Object.entries(jobs).reduce((sum, [name, n]) => (clocked.has(name) ? sum : sum + n), 0)
  return { jobs, ofStores, cpuSeconds: cpuMs && cpuMs / 1000 }
}

function ownCpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

const ended = /^job_duration_seconds_count{queue="(.+)",outcome="completed"} (\d+)$/gm
/** By queue, from the metrics: the queue deletes finished jobs by the clock, which is advanced. */
async function endedJobs({ metrics }: App): Promise<Record<string, number>> {
  const counts = (await metrics.text()).matchAll(ended)
  return Object.fromEntries([...counts].map(([, name, jobs]) => [name!, Number(jobs)]))
}

export function tenantsTable(output: Output, { stores, hours }: Tenants): string {
  const columns: Column[] = [
    { title: 'jobs in an hour', kind: 'exact' },
    ...hours.map((_hour, n): Column => ({ title: `hour ${n + 1}`, kind: 'number' })),
  ]
  const names = [...new Set(hours.flatMap(({ jobs }) => Object.keys(jobs)))].sort()
  const row = (title: string, of: (hour: Hour) => string): string[] => [title, ...hours.map(of)]
  return table(output, columns, [
    ...names.map((name) => row(name, ({ jobs }) => String(jobs[name] ?? 0))),
    row('of a store', ({ ofStores }) => (ofStores / stores).toFixed(1)),
    row('CPU s', ({ cpuSeconds }) => cpuSeconds?.toFixed(1) ?? '–'),
  ]).join('\n')
}
