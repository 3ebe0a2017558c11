/** Starts a throwaway PgBouncer in front of a PostgreSQL server, on a free port of the loopback address. */
import { type ChildProcess, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort, serverUser } from './postgres.ts'

export type PoolMode = 'session' | 'transaction' | 'statement'

export interface ThrowawayPgbouncer {
  /** The server's address through PgBouncer; any of its databases can be named instead. */
  url: string
  /** Stops it with all its connections; a second call does nothing. */
  stop(): Promise<void>
  /** Starts it again at the same address. */
  restart(): Promise<void>
}

export interface PgbouncerOptions {
  mode: PoolMode
  /** Connections to the server for each database. */
  poolSize: number
  /** Startup parameters that PgBouncer ignores silently. */
  ignoring?: readonly string[]
}

const program = process.env.PGBOUNCER ?? '/usr/sbin/pgbouncer'
/** `.ci/run` sets PGBOUNCER: then a missing one is an error. */
export const hasPgbouncer = process.env.PGBOUNCER !== undefined || existsSync(program)

/** Instances to stop when the process exits. */
const running = new Set<() => void>()

const endAll = (): void => {
  for (const each of running) each()
}

/** Starts it and waits until it listens. Throws one clear sentence if PgBouncer is not installed. */
export async function throwawayPgbouncer(
  serverUrl: string,
  options: PgbouncerOptions,
): Promise<ThrowawayPgbouncer> {
  if (!existsSync(program)) {
    throw new Error(`No PgBouncer at ${program}: install it (Debian, Ubuntu: apt-get install pgbouncer)`)
  }
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'throwaway-pgbouncer-'))
  const port = await freePort()
  const file = join(folder, 'pgbouncer.ini')
  writeFileSync(file, buildConfiguration(new URL(serverUrl), port, options))
  if (user) for (const each of [folder, file]) chownSync(each, user.uid, user.gid)
  let child: ChildProcess
  let ended: Promise<void>
  const kill = (): void => void child.kill('SIGKILL')
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  const atExit = (): void => {
    kill()
    remove()
  }
  if (running.size === 0) process.once('exit', endAll)
  running.add(atExit)
  const start = async (): Promise<void> => {
    child = spawn(program, [file], { ...user, cwd: '/', stdio: ['ignore', 'ignore', 'pipe'] })
    let output = ''
    child.stderr?.on('data', (chunk) => {
      output += chunk
    })
    let hasEnded = false
    ended = new Promise((resolve) => child.once('close', () => resolve()))
    void ended.then(() => {
      hasEnded = true
    })
    for (let tries = 0; !(await acceptsConnections(port)); tries += 1) {
      if (hasEnded || tries > 100) {
        atExit()
        throw new Error(`PgBouncer did not start: ${output.trim()}`)
      }
      await wait(50)
    }
  }
  await start()
  const url = new URL(serverUrl)
  url.port = String(port)
  return {
    url: url.href,
    async stop() {
      kill()
      await ended
      running.delete(atExit)
      remove()
    },
    async restart() {
      kill()
      await ended
      await start()
    },
  }
}

const acceptsConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

function buildConfiguration(
  server: URL,
  port: number,
  { mode, poolSize, ignoring = [] }: PgbouncerOptions,
): string {
  return [
    '[databases]',
    `* = host=${server.hostname} port=${server.port} user=${server.username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    // Every client connects as the server's user, who has no password.
    'auth_type = any',
    `pool_mode = ${mode}`,
    `default_pool_size = ${poolSize}`,
    'max_client_conn = 500',
    `ignore_startup_parameters = ${['extra_float_digits', ...ignoring].join(',')}`,
    '',
  ].join('\n')
}
