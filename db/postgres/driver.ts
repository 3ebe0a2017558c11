/** Kysely's driver for the pool: single statements use shared connections, a transaction gets its own. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { TransactionEnded } from '../wrapped-dialect.ts'
import type { Connection, Rows } from './connection.ts'
import type { PostgresPool, Workload } from './pool.ts'

export const pipelinedDialect = (pool: PostgresPool, workload: Workload): Dialect => ({
  createDriver: () => pipelinedDriver(pool, workload),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createAdapter: () => new UnlockedAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
})

/**
 * Does not lock for migrations, since `migrate.ts` holds a lock already. Kysely's session lock could be acquired on one
 * connection and released on another.
 */
class UnlockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

const pipelinedDriver = (pool: PostgresPool, workload: Workload): Driver => ({
  async init() {},
  acquireConnection: async () => new PipelinedConnection(pool, workload),
  beginTransaction: (connection: PipelinedConnection, settings) => connection.begin(settings),
  commitTransaction: (connection: PipelinedConnection) => connection.commit(),
  rollbackTransaction: (connection: PipelinedConnection) => connection.rollback(),
  releaseConnection: async (connection: PipelinedConnection) => connection.release(),
  async destroy() {},
})

class PipelinedConnection implements DatabaseConnection {
  readonly #pool: PostgresPool
  readonly #workload: Workload
  /** The connection of the transaction. */
  #own: Connection | null = null
  /** The result of BEGIN, which is sent together with the first statement; that statement reports its failure. */
  #begun: Promise<unknown> | null = null
  /**
   * Whether the transaction is ending or has ended: a later statement would run outside of it, and would be committed.
   */
  #isOver = false
  /** Why the transaction will be rolled back, even if its caller swallowed the error. */
  #failure: unknown = null
  constructor(pool: PostgresPool, workload: Workload) {
    this.#pool = pool
    this.#workload = workload
  }

  async begin({ isolationLevel, accessMode }: TransactionSettings): Promise<void> {
    this.#isOver = false
    this.#failure = null
    const own = await this.#pool.take(this.#workload)
    const isolation = isolationLevel ? ` isolation level ${isolationLevel}` : ''
    const access = accessMode ? ` ${accessMode}` : ''
    this.#own = own
    this.#begun = own.run(this.#pool.begin(this.#workload, `${isolation}${access}`), [])
    this.#begun.catch(() => undefined) // seen by the first statement, which awaits it too
  }

  async commit(): Promise<void> {
    await this.#end(async (own) => {
      // PostgreSQL answers the commit of a failed transaction with ROLLBACK, which is no error.
      if ((await own.run('commit', [])).command !== 'ROLLBACK') return
      throw this.#failure ?? new Error('The transaction had failed and was rolled back')
    })
  }

  async rollback(): Promise<void> {
    // A lost connection has rolled back already.
    await this.#end(async (own) => void (own.isGone || (await own.run('rollback', []))))
  }

  /**
   * Ends the transaction by `work`. After a failed commit, Kysely's rollback does nothing, so the error is not lost.
   */
  async #end(work: (own: Connection) => Promise<void>): Promise<void> {
    if (!this.#own) return
    this.#isOver = true
    try {
      await this.#begun
      await work(this.#own)
    } finally {
      this.release()
    }
  }

  /** A statement of the transaction. */
  async #run(text: string, parameters: readonly unknown[]): Promise<Rows> {
    if (this.#isOver || !this.#own) throw new TransactionEnded()
    // Sent before BEGIN's answer is awaited, so that BEGIN and the statement are in one packet.
    const running = this.#own.run(text, parameters)
    running.catch((error) => {
      this.#failure ??= error
    })
    return (await Promise.all([running, this.#begun]))[0]
  }

  release(): void {
    if (this.#own) this.#pool.give(this.#own)
    this.#own = null
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const rows =
      this.#own || this.#isOver
        ? await this.#run(sql, parameters)
        : await this.#pool.query<R>(sql, parameters, undefined, this.#workload)
    const { count } = rows
    return { rows: rows as R[], ...(typeof count === 'number' ? { numAffectedRows: BigInt(count) } : {}) }
  }

  // biome-ignore lint/correctness/useYield: it refuses
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Page by key instead of streaming: it works on both databases')
  }
}
