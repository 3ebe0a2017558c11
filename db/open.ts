/** Opens a database: PGlite in a folder (or in memory), or a PostgreSQL server. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PGliteDialect,
  type QueryResult,
} from 'kysely'
import type { Database, ServerDatabase } from './database.ts'
import type { Deadlines } from './deadlines.ts'
import { ListingDialect } from './directory/listing.ts'
import { pipelinedDialect } from './postgres/driver.ts'
import { PostgresPool, type Workload } from './postgres/pool.ts'
import { revocable } from './revocable.ts'
import type { Tables } from './tables.ts'
import { TransactionOver, WrappedConnection, WrappedDriver } from './wrapping.ts'

/** Opens PGlite: `dataDir` a folder, or `memory://`; `snapshot` a dump to start from. */
export async function openPglite({
  dataDir = 'memory://',
  snapshot,
}: {
  dataDir?: string
  snapshot?: Blob
}): Promise<Database> {
  // A server on PostgreSQL never needs it.
  const { openSession } = await import('./embedded/session.ts')
  const pglite = await openSession(dataDir, snapshot)
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

/**
 * Connects to a PostgreSQL server. `reads`: connections that single statements share; `transactions`: how
 * many transactions may be open at once, each on a connection of its own. `socket`: the unix socket where another process
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
  const pool = new PostgresPool(url, {
    reads,
    exclusive: transactions,
    socket,
    isPooled,
    name,
    ...(deadlines ? { deadlines } : {}),
  })
  const at = (workload: Workload, patient: () => Database): ServerDatabase => {
    const dialect = new ListingDialect(pipelinedDialect(pool, workload), pool.distribution)
    const root = new Kysely<Tables>({ dialect })
    const database: ServerDatabase = {
      kind: socket ? 'pglite' : 'postgres',
      root,
      pglite: null,
      get patient() {
        return patient()
      },
      whileHeld: (hold) => revocable(database, dialect, hold),
      query: (text, parameters, plan) => pool.query(text, parameters, plan, workload),
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
    return new TurnsDriver(super.createDriver(), async () => {
      if (performance.now() - this.#breathedAt <= breathEveryMs) return
      await new Promise((resolve) => setImmediate(resolve))
      this.#breathedAt = performance.now()
    })
  }
}

class TurnsDriver extends WrappedDriver {
  readonly #breathe: () => Promise<void>
  constructor(inner: Driver, breathe: () => Promise<void>) {
    super(inner)
    this.#breathe = breathe
  }
  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#breathe()
    return new Turn(await this.inner.acquireConnection())
  }
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    ;(connection as Turn).isOver = true
    await super.commitTransaction(connection)
  }
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    ;(connection as Turn).isOver = true
    await super.rollbackTransaction(connection)
  }
}

/** The connection, for one statement or one transaction. */
class Turn extends WrappedConnection {
  /** Its transaction is ending, or has ended: a statement that comes now would be outside of it, and stay. */
  isOver = false
  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.isOver) throw new TransactionOver()
    return super.executeQuery<R>(query)
  }
}
