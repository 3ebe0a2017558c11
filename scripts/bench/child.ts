/** A server under test in a process of its own: started, asked for the CPU time it has used, and ended. */
import { type ChildProcess, fork } from 'node:child_process'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import type { Fixture, TargetName } from './kinds.ts'
import { nodeFlags } from './node-flags.ts'

export interface Target {
  name: TargetName
  url: string
  pid: number
  /** User and system time since it started, in microseconds. */
  cpuMicros(): Promise<number>
  stop(): Promise<void>
}

type Report = { kind: 'ready'; url: string } | { kind: 'cpu'; micros: number }

/**
 * Starts `targets/<name>.ts`, told its name; its standard output goes through a pipe, as a service's or a container's does, and is let
 * go. In a file it would share the disk that PostgreSQL waits for at every commit, which peers without a log do not.
 */
export async function startTarget(name: TargetName, fixturePath: string): Promise<Target> {
  const file = name === 'guarded' ? 'fastify' : name
  const child = fork(join(import.meta.dirname, 'targets', `${file}.ts`), [fixturePath, name], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, NODE_ENV: 'production' },
    execArgv: [
      // The peers too: without them V8 may leave any of the three at half its speed (CONTRIBUTING, Node's flags).
      ...nodeFlags('start'),
      ...(process.env.BENCH_NODE_OPTIONS?.split(' ').filter(Boolean) ?? []),
    ],
  })
  child.stdout!.resume()
  const { url } = await nextReport(name, child, 'ready')
  return {
    name,
    url,
    pid: child.pid!,
    async cpuMicros() {
      child.send('cpu')
      return (await nextReport(name, child, 'cpu')).micros
    },
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', () => resolve())
        child.disconnect()
      }),
  }
}

function nextReport<K extends Report['kind']>(
  name: string,
  child: ChildProcess,
  kind: K,
): Promise<Extract<Report, { kind: K }>> {
  return new Promise((resolve, reject) => {
    const onReport = (report: Report): void => {
      if (report.kind !== kind) return
      child.off('exit', onExit)
      child.off('message', onReport)
      resolve(report as Extract<Report, { kind: K }>)
    }
    const onExit = (code: number | null): void => reject(new Error(`${name} ended with ${code}`))
    child.on('message', onReport)
    child.once('exit', onExit)
  })
}

/** The child's side: reports where `server` listens and answers the parent until it lets go. */
export async function serveParent(server: Server, stop: () => Promise<void>): Promise<void> {
  if (!server.listening) await new Promise<void>((resolve) => server.once('listening', () => resolve()))
  const { port } = server.address() as AddressInfo
  const report = (message: Report): boolean => process.send!(message)
  process.on('message', (message) => {
    if (message !== 'cpu') return
    const { user, system } = process.cpuUsage()
    report({ kind: 'cpu', micros: user + system })
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
  // Ctrl-C is the parent's to act on.
  process.on('SIGINT', () => {})
  report({ kind: 'ready', url: `http://127.0.0.1:${port}` })
}

export type { Fixture }
