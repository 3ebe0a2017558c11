/**
 * Starts a throwaway PostgreSQL server in a temporary folder. It is reachable only on this machine, and deleted at the
 * end.
 */
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
import { join, resolve } from 'node:path'

export interface ThrowawayPostgres {
  /** `postgres://…`, of a superuser without a password. */
  url: string
  port: number
  dataDir: string
  /** Stops it immediately with everything in progress, as a crash would. */
  crash(): Promise<void>
  /** Starts it again; resolves once it accepts connections. */
  restart(): Promise<void>
  /** Makes a standby the primary; resolves once it takes writes. */
  promote(): Promise<void>
  /** Stops the server and deletes its folder; a second call does nothing. */
  stop(): Promise<void>
}

const versionsFolder = '/usr/lib/postgresql'
const programs = ['initdb', 'pg_ctl', 'postgres']

/** The program folder of the newest PostgreSQL, or the one in POSTGRES_BIN; null if none is installed. */
export function findPostgres(folder = versionsFolder, named = process.env.POSTGRES_BIN): string | null {
  if (named) return named
  if (!existsSync(folder)) return null
  const newestFirst = readdirSync(folder).sort((a, b) => Number(b) - Number(a))
  const bins = newestFirst.map((version) => join(folder, version, 'bin'))
  return bins.find((bin) => programs.every((program) => existsSync(join(bin, program)))) ?? null
}

/** The folder of the programs to run: the named one, or the newest installed. */
function findProgramsFolder(named: string | undefined): string {
  if (named === undefined) return requirePostgres()
  const missing = programs.filter((program) => !existsSync(join(named, program)))
  if (missing.length === 0) return resolve(named)
  throw new Error(`--bin ${named}: has no ${missing.join(', ')}; name the folder of PostgreSQL's programs`)
}

/** Like `findPostgres`, but throws one clear sentence if PostgreSQL is not installed. */
export function requirePostgres(): string {
  const bin = findPostgres()
  if (bin) return bin
  throw new Error(
    `No PostgreSQL below ${versionsFolder}/*/bin: install one (Debian, Ubuntu: apt-get install postgresql), or name ` +
      'the folder of its programs in POSTGRES_BIN',
  )
}

/**
 * Creates a cluster, starts it on a free port of 127.0.0.1 and waits until it answers. `durable: false` gives up crash
 * safety, for tests. `bin`: the folder of the programs, default the newest version installed. `lines` are appended to
 * its postgresql.conf. `standbyOf`: the port of a server that it follows as a standby. Throws one clear sentence if PostgreSQL is not installed.
 */
export async function throwawayPostgres(
  options: {
    durable?: boolean
    bin?: string | undefined
    lines?: readonly string[]
    standbyOf?: number
  } = {},
): Promise<ThrowawayPostgres> {
  const bin = findProgramsFolder(options.bin)
  const user = serverUser()
  const folder = mkdtempSync(join(tmpdir(), 'throwaway-postgres-'))
  if (user) chownSync(folder, user.uid, user.gid)
  const dataDir = join(folder, 'data')
  const remove = (): void => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  // The server is not our child process, so it would outlive a process that exits without stopping it.
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
    const { standbyOf } = options
    const locale = ['--encoding=UTF8', '--locale=C.UTF-8']
    await (standbyOf === undefined
      ? run(
          join(bin, 'initdb'),
          ['-D', dataDir, '-U', 'postgres', '--auth=trust', '--no-sync', ...locale],
          user ?? {},
        )
      : run(
          join(bin, 'pg_basebackup'),
          ['-D', dataDir, '-R', '--checkpoint=fast', `--dbname=postgres://postgres@127.0.0.1:${standbyOf}`],
          user ?? {},
        ))
    const port = await freePort()
    const lines = [...buildConfiguration(port, folder, options.durable ?? true), ...(options.lines ?? []), '']
    appendFileSync(join(dataDir, 'postgresql.conf'), lines.join('\n'))
    const begin = (): Promise<void> => pgCtl('start', '-w', '-t', '60', '-l', join(folder, 'server.log'))
    await begin()
    let stopping: Promise<void> | null = null
    const stop = async (): Promise<void> => {
      if (existsSync(join(dataDir, 'postmaster.pid'))) await pgCtl('stop', '-w', '-m', 'fast')
      process.off('exit', atExit)
      remove()
    }
    return {
      url: `postgres://postgres@127.0.0.1:${port}/postgres`,
      port,
      dataDir,
      crash: () => pgCtl('stop', '-w', '-m', 'immediate'),
      restart: begin,
      promote: () => pgCtl('promote', '-w'),
      stop: () => {
        stopping ??= stop()
        return stopping
      },
    }
  } catch (error) {
    const log = join(folder, 'server.log')
    const output = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').slice(-5).join('\n') : ''
    process.off('exit', atExit)
    remove()
    throw new Error(`PostgreSQL did not start: ${(error as Error).message}\n${output}`.trim())
  }
}

function buildConfiguration(port: number, folder: string, durable: boolean): string[] {
  return [
    '',
    `listen_addresses = '127.0.0.1'`,
    `port = ${port}`,
    `unix_socket_directories = '${toSocketFolder(folder)}'`,
    'max_connections = 200',
    `shared_buffers = '256MB'`,
    `max_wal_size = '2GB'`,
    `log_timezone = 'UTC'`,
    `timezone = 'UTC'`,
    ...(durable ? [] : ['fsync = off', 'synchronous_commit = off', 'full_page_writes = off']),
  ]
}

/** The folder for the server's socket; none if the path would be too long for a socket or contains a comma. */
const toSocketFolder = (folder: string): string =>
  folder.length > 80 || folder.includes(',') ? '' : folder.replaceAll("'", "''")

/** The user to run PostgreSQL and PgBouncer as, since they refuse to run as root; null for the current user. */
export function serverUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null
  const entries = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const entry = entries.find((each) => each[0] === name)
    if (entry) return { uid: Number(entry[2]), gid: Number(entry[3]) }
  }
  throw new Error(
    'PostgreSQL and PgBouncer do not run as root, and there is no user postgres or nobody: start as another',
  )
}

/** Runs a program to its end; its output is the message of a failure. */
function run(command: string, args: string[], user: Pick<SpawnOptions, 'uid' | 'gid'>): Promise<void> {
  return new Promise((ended, reject) => {
    const child: ChildProcess = spawn(command, args, {
      ...user,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
    })
    let output = ''
    child.stderr?.on('data', (chunk) => {
      output += chunk
    })
    child.once('error', reject)
    child.once('exit', (code) => {
      // The server started by pg_ctl inherits the pipe, which must not keep us alive.
      child.stderr?.destroy()
      if (code === 0) ended()
      else reject(new Error(output.trim() || `${command} ended with ${code}`))
    })
  })
}

export async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((listening, reject) => {
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', listening)
  })
  const { port } = probe.address() as { port: number }
  await new Promise((closed) => probe.close(closed))
  return port
}
