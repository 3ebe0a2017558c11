/** A PostgreSQL server for one run: made in a temporary folder, reached on the loopback only, deleted at the end. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ThrowawayPostgres {
  /** `postgres://…`, of a superuser without a password. */
  url: string
  dataDir: string
  /** Ends the server and deletes its folder; a second call does nothing. */
  stop(): Promise<void>
}

const versionsFolder = '/usr/lib/postgresql'
const programs = ['initdb', 'pg_ctl', 'postgres']

/** The folder of the newest PostgreSQL's programs, or null where none is installed. */
export function findPostgres(folder = versionsFolder): string | null {
  if (!existsSync(folder)) return null
  const newestFirst = readdirSync(folder).sort((a, b) => Number(b) - Number(a))
  const bins = newestFirst.map((version) => join(folder, version, 'bin'))
  return bins.find((bin) => programs.every((program) => existsSync(join(bin, program)))) ?? null
}

/**
 * Makes a cluster, starts it on a free port of 127.0.0.1 and waits until it answers. `durable: false` gives up what
 * survives a power cut, for tests. Throws one clear sentence when PostgreSQL is not installed.
 */
export async function throwawayPostgres(options: { durable?: boolean } = {}): Promise<ThrowawayPostgres> {
  const bin = findPostgres()
  if (!bin) {
    throw new Error(
      `No PostgreSQL below ${versionsFolder}/*/bin: install one (Debian, Ubuntu: apt-get install postgresql)`,
    )
  }
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'throwaway-postgres-'))
  if (user) chownSync(folder, user.uid, user.gid)
  const dataDir = join(folder, 'data')
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  // The server is no child of ours: without this it would outlive a process that just ends.
  const atExit = (): void => {
    if (existsSync(join(dataDir, 'postmaster.pid'))) {
      execFileSync(join(bin, 'pg_ctl'), ['stop', '-w', '-m', 'immediate', '-D', dataDir], {
        ...user,
        cwd: '/',
        stdio: 'ignore',
      })
    }
    remove()
  }
  process.once('exit', atExit)
  const pgCtl = (...args: string[]): Promise<void> =>
    run(join(bin, 'pg_ctl'), [...args, '-D', dataDir], user ?? {})

  try {
    const locale = ['--encoding=UTF8', '--locale=C.UTF-8']
    await run(
      join(bin, 'initdb'),
      ['-D', dataDir, '-U', 'postgres', '--auth=trust', '--no-sync', ...locale],
      user ?? {},
    )
    const port = await freePort()
    appendFileSync(join(dataDir, 'postgresql.conf'), configuration(port, options.durable ?? true))
    await pgCtl('start', '-w', '-t', '60', '-l', join(folder, 'server.log'))
    let stopping: Promise<void> | null = null
    const stop = async (): Promise<void> => {
      await pgCtl('stop', '-w', '-m', 'fast')
      process.off('exit', atExit)
      remove()
    }
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      dataDir,
      stop: () => {
        stopping ??= stop()
        return stopping
      },
    }
  } catch (error) {
    const log = join(folder, 'server.log')
    const told = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n') : ''
    process.off('exit', atExit)
    remove()
    throw new Error(`PostgreSQL did not start: ${(error as Error).message}\n${told}`.trim())
  }
}

function configuration(port: number, durable: boolean): string {
  const lines = [
    '',
    `listen_addresses = '127.0.0.1'`,
    `port = ${port}`,
    `unix_socket_directories = ''`,
    'max_connections = 200',
    `shared_buffers = '256MB'`,
    `max_wal_size = '2GB'`,
    `log_timezone = 'UTC'`,
    `timezone = 'UTC'`,
    ...(durable ? [] : ['fsync = off', 'synchronous_commit = off', 'full_page_writes = off']),
    '',
  ]
  return lines.join('\n')
}

/** PostgreSQL refuses to run as root: the user it runs as then, or null to stay who we are. */
function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const entry = entries.find((each) => each[0] === name)
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  throw new Error(
    'PostgreSQL does not run as root, and there is no user postgres or nobody: start as another',
  )
}

/** Runs a program to its end; what it wrote is the message of its failure. */
function run(command: string, args: string[], user: Pick<SpawnOptions, 'uid' | 'gid'>): Promise<void> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = spawn(command, args, {
      ...user,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    })
    let told = ''
    child.stderr?.on('data', (chunk) => {
      told += chunk
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      // The server started by pg_ctl must not hold us through a pipe it inherited.
      child.stderr?.destroy()
      if (code === 0) resolve()
      else reject(new Error(told.trim() || `${command} ended with ${code}`))
    })
  })
}

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', resolve)
  })
  const { port } = probe.address() as { port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
