/** Processes under test: start, CPU time and memory, stop. */
import { type ChildProcess, fork } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import type { TargetName } from './operations.ts'

interface Use {
  /** User and system time since the start. */
  cpuMicros: number
  peakMiB: number
}

export interface Target {
  name: TargetName | 'worker'
  /** Empty for a worker. */
  url: string
  use(): Promise<Use>
  stop(): Promise<void>
}

type Report = { url: string } | Use

const { scripts } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))
/** Node's flags of `npm start` or `npm run worker`. */
const nodeFlags = (script: 'start' | 'worker'): string[] =>
  scripts[script].split(' ').filter((word: string) => word.startsWith('--'))

/**
 * Starts `targets/<name>.ts`. Its log goes through a pipe, as a service's does: a file would compete for the disk that
 * PostgreSQL flushes at every commit.
 */
export async function startTarget(name: Target['name'], fixturePath: string): Promise<Target> {
  const file = { node: 'bare', hono: 'bare', guarded: 'fastify' }[name as string] ?? name
  const child = fork(join(import.meta.dirname, 'targets', `${file}.ts`), [fixturePath, name], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
    execArgv: [
      // Also for the other servers: without these flags V8 may run any of them at half speed (docs/decisions/0009).
      ...nodeFlags(name === 'worker' ? 'worker' : 'start'),
      ...(process.env.BENCH_NODE_OPTIONS?.split(' ').filter(Boolean) ?? []),
    ],
  })
  child.stdout!.resume()
  const { url } = (await nextReport(name, child)) as { url: string }
  return {
    name,
    url,
    async use() {
      child.send('use')
      return (await nextReport(name, child)) as Use
    },
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', () => resolve())
        child.disconnect()
      }),
  }
}

/** Runs a step while a server or a worker runs. */
export async function withTarget<T>(
  name: Target['name'],
  fixturePath: string,
  step: (target: Target) => Promise<T>,
): Promise<T> {
  const target = await startTarget(name, fixturePath)
  try {
    return await step(target)
  } finally {
    await target.stop()
  }
}

function nextReport(name: string, child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null): void => reject(new Error(`${name} ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', (report) => {
      child.off('exit', onExit)
      resolve(report as Report)
    })
  })
}

/** The child's side: reports that it runs, answers the parent, and stops when the parent disconnects. */
export async function serveParent(server: Server | null, stop: () => Promise<void>): Promise<void> {
  process.on('message', () => {
    const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
    process.send!({
      cpuMicros: userCPUTime + systemCPUTime,
      peakMiB: Math.round(maxRSS / 1024),
    } satisfies Use)
  })
  process.once('disconnect', () => {
    stop().then(
      () => process.exit(0),
      (error) => {
        console.error(error)
        process.exit(1)
      },
    )
  })
  // The parent handles Ctrl-C.
  process.on('SIGINT', () => {})
  if (server && !server.listening) {
    await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  }
  const url = server ? `http://127.0.0.1:${(server.address() as AddressInfo).port}` : ''
  process.send!({ url } satisfies Report)
}

const microsPerTick = 10_000

/** CPU time of PostgreSQL and all its processes, including ended ones; null on systems other than Linux. */
export function postgresCpuMicros(dataDir: string): number | null {
  let ticks = 0
  try {
    const postmaster = readFileSync(join(dataDir, 'postmaster.pid'), 'utf8').split('\n')[0]!
    for (const pid of readdirSync('/proc')) {
      const fields = /^\d+$/.test(pid) ? readStat(pid) : []
      // proc(5): utime and stime are the process's own, cutime and cstime those of its ended children.
      const counted = pid === postmaster ? [11, 12, 13, 14] : fields[1] === postmaster ? [11, 12] : []
      for (const at of counted) ticks += Number(fields[at])
    }
  } catch {
    return null // another system, or the server has ended
  }
  return ticks * microsPerTick
}

/** CPU milliseconds of a run, by PostgreSQL and by `own`; null on systems other than Linux. */
export async function measureCpu<T>(
  dataDir: string,
  own: () => number | Promise<number>,
  run: () => Promise<T>,
): Promise<{ answer: T; cpuMs: number | null }> {
  const micros = async (): Promise<number> => (postgresCpuMicros(dataDir) ?? Number.NaN) + (await own())
  const before = await micros()
  const answer = await run()
  const cpuMs = ((await micros()) - before) / 1000
  return { answer, cpuMs: Number.isNaN(cpuMs) ? null : cpuMs }
}

/** The fields of proc(5) after the name, which may contain spaces. */
function readStat(pid: string): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return text.slice(text.lastIndexOf(')') + 2).split(' ')
  } catch {
    return [] // it has ended meanwhile
  }
}
