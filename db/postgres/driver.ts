/** Kysely over the pool. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  type Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import { TransactionOver } from '../wrapping.ts'
import type { Connection, Rows } from './connection.ts'
import type { PostgresPool, Workload } from './pool.ts'

/** A lone statement goes to a shared connection, a transaction gets one of its own. */
export class PipelinedDialect implements Dialect {
  readonly #pool: PostgresPool
  readonly #workload: Workload
  constructor(pool: PostgresPool, workload: Workload) {
    this.#pool = pool
    this.#workload = workload
  }
  createDriver(): Driver {
    return new PipelinedDriver(() => new PipelinedConnection(this.#pool, this.#workload))
  }
  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler()
  }
  createAdapter(): DialectAdapter {
    return new UnlockedAdapter()
  }
  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db)
  }
}

/** Whoever migrates holds a lock already (`migrate.ts`): a session's could be taken on one connection, and left there. */
class UnlockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

class PipelinedDriver implements Driver {
  readonly #open: () => PipelinedConnection
  constructor(open: () => PipelinedConnection) {
    this.#open = open
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return this.#open()
  }
  async beginTransaction(connection: PipelinedConnection, settings: TransactionSettings): Promise<void> {
    await connection.begin(settings)
  }
  async commitTransaction(connection: PipelinedConnection): Promise<void> {
    await connection.commit()
  }
  async rollbackTransaction(connection: PipelinedConnection): Promise<void> {
    await connection.rollback()
  }
  async savepoint(connection: PipelinedConnection, name: string): Promise<void> {
    await connection.run(`savepoint "${name}"`, [])
  }
  async rollbackToSavepoint(connection: PipelinedConnection, name: string): Promise<void> {
    await connection.run(`rollback to savepoint "${name}"`, [])
  }
  async releaseSavepoint(connection: PipelinedConnection, name: string): Promise<void> {
    await connection.run(`release savepoint "${name}"`, [])
  }
  async releaseConnection(connection: PipelinedConnection): Promise<void> {
    connection.release()
  }
  async destroy(): Promise<void> {}
}

class PipelinedConnection implements DatabaseConnection {
  readonly #pool: PostgresPool
  readonly #workload: Workload
  /** That of the transaction. */
  #own: Connection | null = null
  /** BEGIN travels with the first statement; a failed BEGIN shows there. */
  #begun: Promise<unknown> | null = null
  /** It is ending, or has ended: a statement that comes now would be outside of it, and stay. */
  #isOver = false
  /** Why it will be undone, whoever heard of it. */
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
      await this.#begun
      // A commit of a failed transaction answers ROLLBACK without an error.
      if ((await own.run('commit', [])).command !== 'ROLLBACK') return
      throw this.#failure ?? new Error('The transaction had failed and was rolled back')
    })
  }

  async rollback(): Promise<void> {
    await this.#end(async (own) => {
      await this.#begun
      // Lost with its connection: that undid it.
      if (!own.isGone) await own.run('rollback', [])
    })
  }

  /** After a commit that failed there is nothing to roll back: its reason must not be lost. */
  async #end(work: (own: Connection) => Promise<void>): Promise<void> {
    if (!this.#own) return
    this.#isOver = true
    try {
      await work(this.#own)
    } finally {
      this.release()
    }
  }

  /** A statement of the transaction. */
  async run(text: string, parameters: readonly unknown[]): Promise<Rows> {
    if (this.#isOver || !this.#own) throw new TransactionOver()
    // Statement first, so that BEGIN and it leave in one packet.
    const running = this.#own.run(text, parameters)
    running.catch((error) => {
      this.#failure ??= error
    })
    return (await Promise.all([running, this.#begun]))[0]
  }

  release(): void {
    if (!this.#own) return
    this.#pool.give(this.#own)
    this.#own = null
    this.#begun = null
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const rows =
      this.#own || this.#isOver
        ? await this.run(sql, parameters)
        : await this.#pool.query<R>(sql, parameters, undefined, this.#workload)
    const { count } = rows
    return {
      rows: rows as R[],
      ...(count === null || count === undefined ? {} : { numAffectedRows: BigInt(count) }),
    }
  }

  // biome-ignore lint/correctness/useYield: it refuses
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Page by key instead of streaming: it works on both databases')
  }
}
