/** One job in a worker of its own, with the time it took and the most memory that the process had. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '#db/database'
import type { JobMeasure } from './area.ts'
import { postgresCpuMicros, processCpuMicros } from './cpu.ts'
import { nodeFlags } from './node-flags.ts'

const script = join(import.meta.dirname, '..', 'worker.ts')
const longestMs = 15 * 60_000

/** From the call that queues the job to the row that says it is done. `peakMiB` and `cpuMs` are null but on Linux. */
export async function runInWorker(
  database: Database,
  dataDir: string,
  env: Record<string, string>,
  { name, done }: Pick<JobMeasure, 'name' | 'done'>,
  queue: () => Promise<void>,
): Promise<{ ms: number; peakMiB: number | null; cpuMs: number | null }> {
  return withWorker(env, async (worker) => {
    const cpuBefore = cpuMicros(dataDir, worker.pid!)
    const startedAt = performance.now()
    await queue()
    for (;;) {
      const rows = await database.query(done.text, done.values)
      if (rows.length > 0) break
      if (worker.exitCode !== null) throw new Error(`${name}: the worker ended with ${worker.exitCode}`)
      if (performance.now() - startedAt > longestMs) throw new Error(`${name}: not done after 15 minutes`)
      await wait(100)
    }
    const ms = performance.now() - startedAt
    const cpuAfter = cpuMicros(dataDir, worker.pid!)
    const cpuMs = cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / 1000
    return { ms, peakMiB: peakMiBOf(worker.pid!), cpuMs }
  })
}

type WorkerProcess = ReturnType<typeof spawn>

/** Runs a step while a worker runs, and ends it. */
export async function withWorker<T>(
  env: Record<string, string>,
  step: (worker: WorkerProcess) => Promise<T>,
): Promise<T> {
  const worker = spawn(process.execPath, [...nodeFlags('worker'), script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  })
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  try {
    await started(worker)
    return await step(worker)
  } finally {
    worker.kill('SIGTERM')
    await ended
  }
}

function started(worker: WorkerProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let told = ''
    worker.stderr!.on('data', (chunk) => {
      told += chunk
      if (told.includes('The worker is running')) resolve()
    })
    worker.once('exit', (code) => reject(new Error(`The worker ended with ${code}: ${told}`)))
  })
}

/** Of the worker and of PostgreSQL. */
function cpuMicros(dataDir: string, pid: number): number | null {
  const [own, server] = [processCpuMicros(pid), postgresCpuMicros(dataDir)]
  return own === null || server === null ? null : own + server
}

function peakMiBOf(pid: number): number | null {
  const file = `/proc/${pid}/status`
  if (!existsSync(file)) return null
  const kib = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, 'utf8'))?.[1]
  return kib ? Math.round(Number(kib) / 1024) : null
}
