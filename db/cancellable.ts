/**
 * A cancellable database handle. After its cancellation it refuses every statement, and an open transaction is rolled
 * back at its next statement or at its end.
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
import type { CancelSignal, Database } from './database.ts'
import type { Tables } from './tables.ts'
import { WrappedConnection, WrappedDialect, WrappedDriver } from './wrapped-dialect.ts'

/** `dialect`: the dialect of `database`. Its drivers keep transactions of several Kysely instances apart. */
export function makeCancellable(database: Database, dialect: Dialect, hold: CancelSignal): Database {
  const made: Database = {
    kind: database.kind,
    root: new Kysely<Tables>({ dialect: new CancellableDialect(dialect, hold) }),
    // Not passed on, since statements on the raw session could not be cancelled.
    pglite: null,
    fileAddresses: database.fileAddresses,
    get longRunning() {
      return made
    },
    cancellable: (other) =>
      makeCancellable(database, dialect, {
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
    get unreachableStores() {
      return database.unreachableStores
    },
    async script(text) {
      hold.throwIfAborted()
      return database.script(text)
    },
    load: () => database.load(),
    // The opener of the database closes it.
    close: async () => {},
  }
  return made
}

class CancellableDialect extends WrappedDialect {
  readonly #signal: CancelSignal
  constructor(inner: Dialect, hold: CancelSignal) {
    super(inner)
    this.#signal = hold
  }
  createDriver(): Driver {
    return new CancellableDriver(this.inner.createDriver(), this.#signal)
  }
}

class CancellableDriver extends WrappedDriver {
  readonly #signal: CancelSignal
  constructor(inner: Driver, hold: CancelSignal) {
    super(inner)
    this.#signal = hold
  }
  /** Does not check the signal: if acquiring threw, Kysely would never release its slot. */
  async acquireConnection(): Promise<DatabaseConnection> {
    return new CancellableConnection(await this.inner.acquireConnection(), this.#signal)
  }
  override async beginTransaction(
    connection: DatabaseConnection,
    settings: TransactionSettings,
  ): Promise<void> {
    this.#signal.throwIfAborted()
    await super.beginTransaction(connection, settings)
  }
  /** Throws before the commit if cancelled; Kysely then rolls back. */
  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    this.#signal.throwIfAborted()
    await super.commitTransaction(connection)
  }
  /** Does nothing: the underlying connections belong to the original database. */
  override async destroy(): Promise<void> {}
}

class CancellableConnection extends WrappedConnection {
  readonly #signal: CancelSignal
  constructor(inner: DatabaseConnection, hold: CancelSignal) {
    super(inner)
    this.#signal = hold
  }
  override async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    this.#signal.throwIfAborted()
    return super.executeQuery<R>(query)
  }
  override streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    this.#signal.throwIfAborted()
    return super.streamQuery<R>(query, chunkSize)
  }
}
