/** Opens a database: PGlite in a folder (or in memory), or a PostgreSQL server. */
import {
  CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PGliteDialect,
  type QueryResult,
} from 'kysely'
import { makeCancellable } from './cancellable.ts'
import type { Database, ServerDatabase } from './database.ts'
import type { Deadlines } from './deadlines.ts'
import { LookupIndexDialect } from './lookup-index/write-through.ts'
import { pipelinedDialect } from './postgres/driver.ts'
import { PostgresPool, type Workload } from './postgres/pool.ts'
import type { Tables } from './tables.ts'
import { TransactionEnded, WrappedConnection, WrappedDriver } from './wrapped-dialect.ts'

/** Opens PGlite. `dataDir`: a folder, or `memory://`. `snapshot`: a dump to start from. */
export async function openPglite({
  dataDir = 'memory://',
  snapshot,
}: {
  dataDir?: string
  snapshot?: Blob
}): Promise<Database> {
  // Loaded on demand: a server on PostgreSQL never needs it.
  const { openSession } = await import('./embedded/session.ts')
  const pglite = await openSession(dataDir, snapshot)
  // Kysely serializes the use of its one connection, so a query never runs in another request's transaction.
  const dialect = new YieldingDialect({ pglite })
  const root = new Kysely<Tables>({ dialect })
  const database: Database = {
    kind: 'pglite',
    root,
    pglite,
    fileAddresses: pglite.fileAddresses,
    get longRunning() {
      return database
    },
    // Several Kysely instances may use PGlite, which itself keeps their transactions apart.
    cancellable: (hold) => makeCancellable(database, dialect, hold),
    async query<Row>(text: string, parameters: readonly unknown[]) {
      return (await root.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows
    },
    isDistributed: () => false,
    unreachableStores: new Set(),
    script: async <Row>(text: string) => (await pglite.exec(text)).flatMap((each) => each.rows as Row[]),
    load: () => ({ open: 1, busy: 0, waiting: 0, isDiskFull: false }),
    async close() {
      await root.destroy()
      if (!pglite.closed) await pglite.close()
      // Frees PGlite's hundreds of megabytes now, even if something still references the database.
      Object.assign(pglite, { mod: undefined, fs: undefined })
    },
  }
  return database
}

/**
 * Connects to a PostgreSQL server. `reads`: connections that single statements share; `transactions`: the most open
 * transactions, each on its own connection. `socket`: the unix socket of another process's PGlite. `isPooled`: whether
 * a connection pooler is in between. `name`: the application name.
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
  const at = (workload: Workload, longRunning: () => Database): ServerDatabase => {
    const dialect = new LookupIndexDialect(pipelinedDialect(pool, workload), pool.distribution)
    const root = new Kysely<Tables>({ dialect })
    const database: ServerDatabase = {
      kind: socket ? 'pglite' : 'postgres',
      root,
      pglite: null,
      fileAddresses: pool.fileAddresses,
      get longRunning() {
        return longRunning()
      },
      cancellable: (hold) => makeCancellable(database, dialect, hold),
      query: (text, parameters, plan) => pool.query(text, parameters, plan, workload),
      isDistributed: () => pool.distribution.isDistributed(),
      get unreachableStores() {
        return pool.unreachableStores
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
  const longRunning: ServerDatabase = at('long', () => longRunning)
  return at('request', () => longRunning)
}

const yieldEveryMs = 5

/**
 * Yields to the event loop every 5 ms when a connection is acquired. PGlite never leaves the microtask queue, so a job
 * with many queries would block all requests otherwise.
 */
class YieldingDialect extends PGliteDialect {
  /** When it last yielded. All drivers share this time, since work often switches between them. */
  #breathedAt = performance.now()

  override createDriver(): Driver {
    return new TransactionGuardDriver(super.createDriver(), async () => {
      if (performance.now() - this.#breathedAt <= yieldEveryMs) return
      await new Promise((resolve) => setImmediate(resolve))
      this.#breathedAt = performance.now()
    })
  }
}

class TransactionGuardDriver extends WrappedDriver {
  readonly #breathe: () => Promise<void>
  constructor(inner: Driver, breathe: () => Promise<void>) {
    super(inner)
    this.#breathe = breathe
  }
  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#breathe()
    return new GuardedConnection(await this.inner.acquireConnection())
  }
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    ;(connection as GuardedConnection).hasEnded = true
    await super.commitTransaction(connection)
  }
  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    ;(connection as GuardedConnection).hasEnded = true
    await super.rollbackTransaction(connection)
  }
}

/** A connection for one statement or one transaction, which refuses statements after the transaction's end. */
class GuardedConnection extends WrappedConnection {
  /**
   * Whether the transaction is ending or has ended: a later statement would run outside of it, and would be committed.
   */
  hasEnded = false
  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.hasEnded) throw new TransactionEnded()
    return super.executeQuery<R>(query)
  }
}
