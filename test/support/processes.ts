// biome-ignore-all lint/nursery/noJsRestrictedProperties: the processes it starts go by the machine's clock
/** Servers as their own processes, for tests that kill them. */
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

/** A folder that is deleted when the test file ends, after the processes started on it. */
function makeFolder(prefix: string): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  whenFileEnds(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Flags of short-lived processes: optimizing the embedded database takes V8 longer than they live, on CPUs that other
 * tests need. Modules are resolved as by `npm start`, which is faster.
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

/** `of`: the folder of another version. */
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
    child.kill('SIGKILL') // no effect if it has ended
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

/** A data folder with a migrated embedded database without a store; deleted when the test file ends. */
export async function emptyFolder(): Promise<string> {
  const dataDir = makeFolder('merchant-folder-')
  const place = { dataDir: join(dataDir, 'db') }
  const database = await openPglite(
    inject('snapshot') ? { ...place, snapshot: await migratedSnapshot() } : place,
  )
  await migrate(database)
  await database.close()
  return dataDir
}

/** A folder or database filled by `fill`, and the environment of servers on it. */
export async function prepareServer<T>(
  fill: (app: TestApp) => Promise<T>,
): Promise<{ env: Record<string, string>; filled: T }> {
  const dataDir = makeFolder('merchant-kill-')
  let database: Database
  let url: string | null = null
  if (inject('postgresUrl')) ({ database, url } = await freshDatabase())
  else database = await openPglite({ dataDir: join(dataDir, 'db'), snapshot: await migratedSnapshot() })
  // Its rows are then used by processes on the machine's clock.
  const app = await testApp({ secretKey: secret, dataDir }, { database, clock: machineClock() })
  const filled = await fill(app)
  await app.close()
  await database.close()
  const env = { DATA_DIR: dataDir, LOG_LEVEL: 'warn', ...(url ? { DATABASE_URL: url } : {}) }
  return { env, filled }
}

export async function call(
  url: string,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
) {
  // A kept-alive connection would race with the server's timeout of idle ones.
  const response = await fetch(`${url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      connection: 'close',
      ...more,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : null }
}

const timeoutMs = 240_000

/** Polls until there is a result; the limit allows for a busy machine. */
export async function until<T>(look: () => Promise<T | false>): Promise<T> {
  const end = Date.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found !== false) return found
    if (Date.now() > end) throw new Error(`nothing after ${timeoutMs / 1000} seconds`)
    await wait(100)
  }
}

/** Messages accepted by the sandbox's provider. Opens the database, which no server may use. */
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

/** Reads the database while no server uses it. */
export async function readRows<Row>(
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
 * kill -9, and a simulated minute without processes, so that heartbeats of its jobs are outdated. Only
 * `kill.full.test.ts` waits for a real one.
 */
export async function kill({ child, ended }: Running, env: Record<string, string>): Promise<void> {
  child.kill('SIGKILL')
  await ended
  await readRows(
    env,
    `update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute',
       started_on = started_on - interval '1 minute' where state = 'active'`,
  )
}

/** Advances the clock of a server and runs due jobs. */
export async function advance({ url }: Running, advanceSeconds: number): Promise<void> {
  const moved = await fetch(`${url}/sandbox/api/clock`, {
    method: 'POST',
    body: JSON.stringify({ advanceSeconds }),
  })
  expect(moved.status).toBe(200)
}
