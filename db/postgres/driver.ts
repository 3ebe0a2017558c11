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
import { ConnectionLost } from '../deadlines.ts'
import { TransactionOver } from '../wrapping.ts'
import type { Client } from './client.ts'
import type { Pace, PostgresPool } from './pool.ts'

/** A lone statement goes to a shared client, a transaction gets one of its own. */
export class PipelinedDialect implements Dialect {
  readonly #pool: PostgresPool
  readonly #pace: Pace
  constructor(pool: PostgresPool, pace: Pace) {
    this.#pool = pool
    this.#pace = pace
  }
  createDriver(): Driver {
    return new PipelinedDriver(this.#pool, this.#pace)
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
  readonly #pool: PostgresPool
  readonly #pace: Pace
  constructor(pool: PostgresPool, pace: Pace) {
    this.#pool = pool
    this.#pace = pace
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return new PipelinedConnection(this.#pool, this.#pace)
  }
  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    await (connection as PipelinedConnection).begin(settings)
  }
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as PipelinedConnection).end('commit')
  }
  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    await (connection as PipelinedConnection).end('rollback')
  }
  async savepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as PipelinedConnection).command(`savepoint "${name}"`)
  }
  async rollbackToSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as PipelinedConnection).command(`rollback to savepoint "${name}"`)
  }
  async releaseSavepoint(connection: DatabaseConnection, name: string): Promise<void> {
    await (connection as PipelinedConnection).command(`release savepoint "${name}"`)
  }
  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    ;(connection as PipelinedConnection).release()
  }
  async destroy(): Promise<void> {}
}

class PipelinedConnection implements DatabaseConnection {
  readonly #pool: PostgresPool
  readonly #pace: Pace
  #own: Client | null = null
  /** BEGIN travels with the first statement; a failed BEGIN shows there. */
  #begun: Promise<unknown> | null = null
  #lostBefore = 0
  /** It is ending, or has ended: a statement that comes now would be outside of it, and stay. */
  #isOver = false
  /** Why it will be undone, whoever heard of it. */
  #failure: unknown = null
  constructor(pool: PostgresPool, pace: Pace) {
    this.#pool = pool
    this.#pace = pace
  }

  /** The client of the transaction. A statement on its next connection would be outside of it, and stay. */
  #held(own: Client): Client {
    if (own.lost !== this.#lostBefore)
      throw new ConnectionLost('The connection was lost, and its transaction with it')
    return own
  }

  /** The same, for a statement of it. */
  #open(): Client {
    if (this.#isOver || !this.#own) throw new TransactionOver()
    return this.#held(this.#own)
  }

  async begin(settings: TransactionSettings): Promise<void> {
    this.#isOver = false
    this.#failure = null
    this.#own = await this.#pool.take(this.#pace)
    const isolation = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : ''
    const access = settings.accessMode ? ` ${settings.accessMode}` : ''
    this.#lostBefore = this.#own.lost
    const { changed } = this.#own
    const begun = this.#own.run(this.#pool.begin(this.#pace, `${isolation}${access}`), [])
    this.#begun = changed ? Promise.all([changed, begun]) : begun
    this.#begun.catch(() => undefined) // seen by the first statement, which awaits it too
  }

  async end(command: 'commit' | 'rollback'): Promise<void> {
    // After a commit that failed there is nothing to roll back: its reason must not be lost.
    if (!this.#own) return
    this.#isOver = true
    try {
      await this.#begun
      // Lost with its connection: that undid it.
      if (command === 'rollback' && this.#own.lost !== this.#lostBefore) return
      const done = await this.#held(this.#own).run(command, [])
      // A commit of a failed transaction answers ROLLBACK without an error.
      if (command === 'commit' && done.command === 'ROLLBACK') {
        throw this.#failure ?? new Error('The transaction had failed and was rolled back')
      }
    } finally {
      this.release()
    }
  }

  async command(text: string): Promise<void> {
    await this.#open().run(text, [])
  }

  release(): void {
    if (!this.#own) return
    this.#pool.give(this.#own)
    this.#own = null
    this.#begun = null
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // Statement first, so that BEGIN and it leave in one packet.
    const running =
      this.#own || this.#isOver
        ? this.#open().run(query.sql, query.parameters)
        : this.#pool.query<R>(query.sql, query.parameters, undefined, this.#pace)
    if (this.#own) {
      running.catch((error) => {
        this.#failure ??= error
      })
    }
    const [rows] = this.#begun ? await Promise.all([running, this.#begun]) : [await running]
    const count = rows.count
    return {
      rows: rows as unknown as R[],
      ...(count === null || count === undefined ? {} : { numAffectedRows: BigInt(count) }),
    }
  }

  // biome-ignore lint/correctness/useYield: it refuses
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('Page by key instead of streaming: it works on both databases')
  }
}
