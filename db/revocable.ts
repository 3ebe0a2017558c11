/**
 * A database that can be taken away: from then on its next statement is refused, and a transaction that is open is
 * undone at its next statement or at its end.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type DatabaseIntrospector,
  type Dialect,
  type DialectAdapter,
  type Driver,
  Kysely,
  type QueryCompiler,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Database, Hold } from './database.ts'
import type { Tables } from './tables.ts'

/** `dialect`: of the same database, whose drivers keep transactions of different Kyselys apart. */
export function revocable(database: Database, dialect: Dialect, hold: Hold): Database {
  const made: Database = {
    kind: database.kind,
    root: new Kysely<Tables>({ dialect: new RevocableDialect(dialect, hold) }),
    // Nobody reaches around it.
    pglite: null,
    get patient() {
      return made
    },
    whileHeld: (other) =>
      revocable(database, dialect, {
        throwIfAborted() {
          other.throwIfAborted()
          hold.throwIfAborted()
        },
      }),
    async query(text, parameters, plan) {
      hold.throwIfAborted()
      return database.query(text, parameters, plan)
    },
    isDistributed: () => database.isDistributed(),
    async script(text) {
      hold.throwIfAborted()
      return database.script(text)
    },
    load: () => database.load(),
    // Whoever opened the database closes it.
    close: async () => {},
  }
  return made
}

class RevocableDialect implements Dialect {
  readonly #inner: Dialect
  readonly #hold: Hold
  constructor(inner: Dialect, hold: Hold) {
    this.#inner = inner
    this.#hold = hold
  }
  createDriver(): Driver {
    return new RevocableDriver(this.#inner.createDriver(), this.#hold)
  }
  createQueryCompiler(): QueryCompiler {
    return this.#inner.createQueryCompiler()
  }
  createAdapter(): DialectAdapter {
    return this.#inner.createAdapter()
  }
  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return this.#inner.createIntrospector(db)
  }
}

class RevocableDriver implements Driver {
  readonly #inner: Driver
  readonly #hold: Hold
  constructor(inner: Driver, hold: Hold) {
    this.#inner = inner
    this.#hold = hold
  }
  init(): Promise<void> {
    return this.#inner.init()
  }
  /** Always: Kysely would keep the turn of one that was refused here. */
  async acquireConnection(): Promise<DatabaseConnection> {
    return new RevocableConnection(await this.#inner.acquireConnection(), this.#hold)
  }
  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    this.#hold.throwIfAborted()
    await this.#inner.beginTransaction(innerOf(connection), settings)
  }
  /** Kysely rolls back what could not be committed. */
  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#hold.throwIfAborted()
    await this.#inner.commitTransaction(innerOf(connection))
  }
  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.#inner.rollbackTransaction(innerOf(connection))
  }
  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.#inner.releaseConnection(innerOf(connection))
  }
  /** What the connections belong to stays open. */
  async destroy(): Promise<void> {}
}

const innerOf = (connection: DatabaseConnection): DatabaseConnection =>
  (connection as RevocableConnection).inner

class RevocableConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection
  readonly #hold: Hold
  constructor(inner: DatabaseConnection, hold: Hold) {
    this.inner = inner
    this.#hold = hold
  }
  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#hold.throwIfAborted()
    return this.inner.executeQuery<R>(query)
  }
  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    this.#hold.throwIfAborted()
    return this.inner.streamQuery<R>(query, chunkSize)
  }
}
