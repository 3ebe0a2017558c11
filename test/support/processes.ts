// biome-ignore-all lint/nursery/noJsRestrictedProperties: the processes it starts go by the machine's clock
/** Servers as processes of their own, for tests that kill them. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, inject } from 'vitest'
import type { Database } from '#db/database'
import { migrate } from '#db/migrate'
import { openPglite, openPostgres } from '#db/open'
// biome-ignore lint/style/noRestrictedImports: the processes it starts go by the machine's clock
import { machineClock } from '#runtime/clock'
import { freshDatabase, migratedSnapshot, type TestApp, testApp } from './app.ts'
import { whenFileEnds } from './closing.ts'

const root = join(import.meta.dirname, '../..')

/** Gone when the test file ends, after the processes that were started on it. */
function folderOfFile(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  whenFileEnds(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * For processes that live for seconds: what V8 would make faster of the embedded database takes longer than they live, on
 * the processors that other tests wait for. Their modules are found as `npm start` finds them, which is sooner.
 */
export const shortLived: readonly string[] = [
  '--liftoff-only',
  '--max-semi-space-size=16',
  `--import=${join(root, 'scripts/cli/compiled.js')}`,
]

export interface Running {
  child: ChildProcess
  url: string
  ended: Promise<number | null>
}

const secret = 'a secret key that only the tests use, 123'

/** `of`: another version's folder. */
export async function start(script: string, env: Record<string, string>, of = root): Promise<Running> {
  const child = spawn(process.execPath, [...shortLived, join(of, script)], {
    cwd: of,
    env: {
      ...process.env,
      PORT: '0',
      SECRET_KEY: secret,
      RATE_LIMIT_STORE: '100000',
      RATE_LIMIT_IP: '100000',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  whenFileEnds(() => {
    child.kill('SIGKILL') // in vain where it has ended
    return ended
  })
  let output = ''
  const url = await new Promise<string>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      output += chunk
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(output)
      if (found) resolve(found[0])
      else if (/worker is running/i.test(output)) resolve('')
    }
    child.stdout!.on('data', look)
    child.stderr!.on('data', look)
    child.once('close', () => reject(new Error(`ended at its start: ${output}`)))
  })
  return { child, url, ended }
}

/** A data folder whose embedded database is migrated, and has no store; gone when the test file ends. */
export async function emptyFolder(): Promise<string> {
  const dataDir = folderOfFile('merchant-folder-')
  const place = { dataDir: join(dataDir, 'db') }
  const database = await openPglite(
    inject('snapshot') ? { ...place, snapshot: await migratedSnapshot() } : place,
  )
  await migrate(database)
  await database.close()
  return dataDir
}

/** A folder or database that `fill` has filled, and the environment of servers on it. */
export async function prepared<T>(
  fill: (app: TestApp) => Promise<T>,
): Promise<{ env: Record<string, string>; filled: T }> {
  const dataDir = folderOfFile('merchant-kill-')
  let database: Database
  let url: string | null = null
  if (inject('postgresUrl')) ({ database, url } = await freshDatabase())
  else database = await openPglite({ dataDir: join(dataDir, 'db'), snapshot: await migratedSnapshot() })
  // What it leaves is taken up by processes, which go by the machine's clock.
  const app = await testApp({ secretKey: secret, dataDir }, { database, clock: machineClock() })
  const filled = await fill(app)
  await app.close()
  await database.close()
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...(url ? { DATABASE_URL: url } : {}) }
  return { env, filled }
}

export async function call(url: string, key: string, method: string, path: string, body?: unknown) {
  // A connection kept open would be a race with the server's own time-out of idle ones.
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : null }
}

const patienceMs = 240_000

/** Looks until there is something; as long as any machine may take, however busy it is. */
export async function until<T>(look: () => Promise<T | false>): Promise<T> {
  const end = Date.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found !== false) return found
    if (Date.now() > end) throw new Error(`nothing after ${patienceMs / 1000} seconds`)
    await wait(100)
  }
}

/** What the sandbox's provider took. Opens the database: no server may have it. */
export async function outbox(
  env: Record<string, string>,
): Promise<{ rows: number; phones: number; keys: number }> {
  const database = await opened(env)
  const [row] = await database.query<{ rows: number; phones: number; keys: number }>(
    `select count(*)::int as rows, count(distinct phone)::int as phones,
       count(distinct idempotency_key)::int as keys from sandbox_messages`,
    [],
  )
  await database.close()
  return row!
}

export const opened = async (env: Record<string, string>): Promise<Database> =>
  env.DATABASE_URL ? openPostgres(env.DATABASE_URL) : openPglite({ dataDir: join(env.DATA_DIR!, 'db') })

/** Reads the database once no server has it. */
export async function rowsOf<Row>(
  env: Record<string, string>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const database = await opened(env)
  try {
    return await database.query<Row>(text, values)
  } finally {
    await database.close()
  }
}

/**
 * kill -9, and a minute in which nobody runs, so that the jobs it had in hand have given no sign of life for long. Only
 * `kill.full.test.ts` waits for that silence.
 */
export async function kill({ child, ended }: Running, env: Record<string, string>): Promise<void> {
  child.kill('SIGKILL')
  await ended
  await rowsOf(
    env,
    `update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute',
       started_on = started_on - interval '1 minute' where state = 'active'`,
  )
}

/** Moves the clock of a server; what comes due by it runs. */
export async function advance({ url }: Running, advanceSeconds: number): Promise<void> {
  const moved = await fetch(`${url}/sandbox/api/clock`, {
    method: 'POST',
    body: JSON.stringify({ advanceSeconds }),
  })
  expect(moved.status).toBe(200)
}
