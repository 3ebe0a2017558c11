/** Opens a database: PGlite in a folder (or in memory), or a PostgreSQL server. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { btree_gin } from '@electric-sql/pglite/contrib/btree_gin'
import { pg_trgm } from '@electric-sql/pglite/contrib/pg_trgm'
import { CompiledQuery, type Driver, Kysely, PGliteDialect } from 'kysely'
import type { Database, ServerDatabase } from './database.ts'
import type { Deadlines } from './deadlines.ts'
import { ListingDialect } from './directory/listing.ts'
import { PreparingPglite } from './embedded/pglite.ts'
import { PipelinedDialect } from './postgres/driver.ts'
import { type Pace, postgresPool } from './postgres/pool.ts'
import { makePrivate } from './private-folder.ts'
import { revocable } from './revocable.ts'
import type { Tables } from './tables.ts'

/** Values arrive alike from both drivers: bigint as number, date as text, numeric as text, instants as Date. */
const pgliteParsers = {
  20: (value: string) => Number(value),
  1082: (value: string) => value,
  1700: (value: string) => value,
}

/**
 * PostgreSQL fills its buffers with zeros as it starts: with the 128 MB it would take, that is most of the time of an
 * opening. What they do not hold lies in the system's own cache. The time zone is not left to who made the database.
 */
const startSettings = ['-c', 'shared_buffers=16MB', '-c', 'timezone=UTC', '-c', 'log_timezone=UTC']

/**
 * Opens PGlite: `dataDir` a folder, or `memory://`; `snapshot` a dump to start from. A folder without a database gets
 * an empty one as its makers publish it, in a fifth of the time that `initdb` takes.
 */
export async function openPglite({
  dataDir = 'memory://',
  snapshot,
}: {
  dataDir?: string
  snapshot?: Blob
}): Promise<Database> {
  if (!dataDir.startsWith('memory:')) makePrivate(dataDir)
  const start = snapshot ?? (existsSync(join(dataDir, 'PG_VERSION')) ? undefined : await emptyDatabase())
  const pglite = new PreparingPglite({
    dataDir,
    ...(start ? { loadDataDir: start } : {}),
    parsers: pgliteParsers,
    startParams: [...PreparingPglite.defaultStartParams, ...startSettings],
    extensions: { btree_gin, pg_trgm },
  })
  await pglite.waitReady
  // Kysely takes its one connection in turns, so a query never lands in another request's transaction.
  const dialect = new BreathingDialect({ pglite })
  const root = new Kysely<Tables>({ dialect })
  const database: Database = {
    kind: 'pglite',
    root,
    pglite,
    get patient() {
      return database
    },
    // Transactions of another Kysely are kept apart by PGlite itself.
    whileHeld: (hold) => revocable(database, dialect, hold),
    async query<Row>(text: string, parameters: readonly unknown[]) {
      return (await root.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows
    },
    isDistributed: () => false,
    awayStores: new Set(),
    script: async <Row>(text: string) => (await pglite.exec(text)).flatMap((each) => each.rows as Row[]),
    load: () => ({ open: 1, busy: 0, waiting: 0 }),
    async close() {
      await root.destroy()
      if (!pglite.closed) await pglite.close()
      // Its memory is hundreds of megabytes: it goes now, whoever still holds the database.
      Object.assign(pglite, { mod: undefined, fs: undefined })
    },
  }
  return database
}

async function emptyDatabase(): Promise<Blob> {
  const prepopulated = await import('@electric-sql/pglite-prepopulatedfs')
  return prepopulated.dataDir()
}

/**
 * Connects to a PostgreSQL server. `reads`: clients that single statements share; `transactions`: how many
 * transactions may be open at once, each on a client of its own. `socket`: the unix socket where another process
 * serves its PGlite. `isPooled`: it is reached through a pooler of connections. `name`: who PostgreSQL is told connects.
 */
export function openPostgres(
  url: string,
  sizes: {
    reads?: number
    transactions?: number
    socket?: string
    isPooled?: boolean
    name?: string
    deadlines?: Pick<Deadlines, 'statementMs'>
  } = {},
): ServerDatabase {
  const { reads = 3, transactions = 10, socket, isPooled = false, name, deadlines } = sizes
  const pool = postgresPool(url, {
    reads,
    exclusive: transactions,
    socket,
    isPooled,
    name,
    ...(deadlines ? { deadlines } : {}),
  })
  const at = (pace: Pace, patient: () => Database): ServerDatabase => {
    const dialect = new ListingDialect(new PipelinedDialect(pool, pace), pool.distribution)
    const root = new Kysely<Tables>({ dialect })
    const database: ServerDatabase = {
      kind: socket ? 'pglite' : 'postgres',
      root,
      pglite: null,
      get patient() {
        return patient()
      },
      whileHeld: (hold) => revocable(database, dialect, hold),
      query: (text, parameters, plan) => pool.query(text, parameters, plan, pace),
      isDistributed: () => pool.distribution.isDistributed(),
      get awayStores() {
        return pool.awayStores
      },
      script: (text) => pool.script(text),
      verify: () => (socket ? Promise.resolve() : pool.verify()),
      load: () => pool.load(),
      async close() {
        await root.destroy()
        await pool.close()
      },
    }
    return database
  }
  const patient: ServerDatabase = at('long', () => patient)
  return at('request', () => patient)
}

const breathEveryMs = 5

/**
 * PGlite answers without ever leaving the microtask queue, so a job that asks again and again would let no request in.
 * Every few milliseconds whoever takes the connection lets the event loop have its turn first.
 */
class BreathingDialect extends PGliteDialect {
  /** Of all its drivers together: work that changes hands often has to let others in as well. */
  #breathedAt = performance.now()

  override createDriver(): Driver {
    const driver = super.createDriver()
    const acquire = driver.acquireConnection.bind(driver)
    driver.acquireConnection = async (options) => {
      if (performance.now() - this.#breathedAt > breathEveryMs) {
        await new Promise((resolve) => setImmediate(resolve))
        this.#breathedAt = performance.now()
      }
      return acquire(options)
    }
    return driver
  }
}
