/** Base classes for a Kysely dialect that wraps another one. */
import type {
  CompiledQuery,
  DatabaseConnection,
  DatabaseIntrospector,
  Dialect,
  DialectAdapter,
  Driver,
  Kysely,
  QueryCompiler,
  QueryResult,
  TransactionSettings,
} from 'kysely'

/**
 * Thrown for a statement that is sent after its transaction ended, for example in a `Promise.all` whose other statement
 * failed.
 */
export class TransactionEnded extends Error {
  override name = 'TransactionEnded'
  override message = 'The transaction ended before this statement was sent: await each of them within it'
}

export abstract class WrappedDialect implements Dialect {
  protected readonly inner: Dialect
  constructor(inner: Dialect) {
    this.inner = inner
  }
  abstract createDriver(): Driver
  createQueryCompiler(): QueryCompiler {
    return this.inner.createQueryCompiler()
  }
  createAdapter(): DialectAdapter {
    return this.inner.createAdapter()
  }
  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return this.inner.createIntrospector(db)
  }
}

export class WrappedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection
  constructor(inner: DatabaseConnection) {
    this.inner = inner
  }
  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.inner.executeQuery<R>(query)
  }
  streamQuery<R>(query: CompiledQuery, chunkSize: number): AsyncIterableIterator<QueryResult<R>> {
    return this.inner.streamQuery<R>(query, chunkSize)
  }
}

/** Returns the inner connection. A driver may also return connections that are not wrapped. */
const unwrap = (connection: DatabaseConnection): DatabaseConnection =>
  connection instanceof WrappedConnection ? connection.inner : connection

type Compile = QueryCompiler['compileQuery']

export abstract class WrappedDriver implements Driver {
  protected readonly inner: Driver
  constructor(inner: Driver) {
    this.inner = inner
  }
  init(): Promise<void> {
    return this.inner.init()
  }
  abstract acquireConnection(): Promise<DatabaseConnection>
  beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    return this.inner.beginTransaction(unwrap(connection), settings)
  }
  commitTransaction(connection: DatabaseConnection): Promise<void> {
    return this.inner.commitTransaction(unwrap(connection))
  }
  rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    return this.inner.rollbackTransaction(unwrap(connection))
  }
  async savepoint(connection: DatabaseConnection, name: string, compile: Compile): Promise<void> {
    await this.inner.savepoint?.(unwrap(connection), name, compile)
  }
  async rollbackToSavepoint(connection: DatabaseConnection, name: string, compile: Compile): Promise<void> {
    await this.inner.rollbackToSavepoint?.(unwrap(connection), name, compile)
  }
  async releaseSavepoint(connection: DatabaseConnection, name: string, compile: Compile): Promise<void> {
    await this.inner.releaseSavepoint?.(unwrap(connection), name, compile)
  }
  releaseConnection(connection: DatabaseConnection): Promise<void> {
    return this.inner.releaseConnection(unwrap(connection))
  }
  destroy(): Promise<void> {
    return this.inner.destroy()
  }
}
