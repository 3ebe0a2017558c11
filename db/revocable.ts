/**
 * A database that can be taken away: from then on its next statement is refused, and a transaction that is open is
 * undone at its next statement or at its end.
 */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  type TransactionSettings,
} from 'kysely'
import type { Database, Hold } from './database.ts'
import type { Tables } from './tables.ts'
import { WrappedConnection, WrappedDialect, WrappedDriver } from './wrapping.ts'

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
    get awayStores() {
      return database.awayStores
    },
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

class RevocableDialect extends WrappedDialect {
  readonly #hold: Hold
  constructor(inner: Dialect, hold: Hold) {
    super(inner)
    this.#hold = hold
  }
  createDriver(): Driver {
    return new RevocableDriver(this.inner.createDriver(), this.#hold)
  }
}

class RevocableDriver extends WrappedDriver {
  readonly #hold: Hold
  constructor(inner: Driver, hold: Hold) {
    super(inner)
    this.#hold = hold
  }
  /** Always: Kysely would keep the turn of one that was refused here. */
  async acquireConnection(): Promise<DatabaseConnection> {
    return new RevocableConnection(await this.inner.acquireConnection(), this.#hold)
  }
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    this.#hold.throwIfAborted()
    await super.beginTransaction(connection, settings)
  }
  /** Kysely rolls back what could not be committed. */
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#hold.throwIfAborted()
    await super.commitTransaction(connection)
  }
  /** What the connections belong to stays open. */
  override async destroy(): Promise<void> {}
}

class RevocableConnection extends WrappedConnection {
  readonly #hold: Hold
  constructor(inner: DatabaseConnection, hold: Hold) {
    super(inner)
    this.#hold = hold
  }
  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#hold.throwIfAborted()
    return super.executeQuery<R>(query)
  }
  override streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    this.#hold.throwIfAborted()
    return super.streamQuery<R>(query, chunkSize)
  }
}
