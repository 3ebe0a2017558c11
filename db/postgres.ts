/**
 * PostgreSQL over postgres.js, arranged for many small statements.
 *
 * postgres.js searches its queue on every query once one client has several connections, and Kysely's stock
 * driver reserves a connection for each query: both cost more than the query. So: a few clients of one
 * connection each, taken in turn, on which prepared statements pipeline; and clients of their own for
 * transactions, so that a slow one holds up nobody.
 */
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
import postgres from 'postgres'

/** Of one statement: kept whatever its values, or made for its values at each call. Otherwise PostgreSQL decides. */
export type Plan = 'once' | 'each-time'

export interface PostgresPool {
  /** One statement on a client that others use too. */
  query<Row>(
    text: string,
    parameters: readonly unknown[],
    plan?: Plan,
  ): Promise<Row[] & { count: number | null }>
  /** Several statements in one text, without parameters, on a client of their own; answers all their rows. */
  script<Row>(text: string): Promise<Row[]>
  /** A client that nobody else uses until it is given back. */
  take(): Promise<Client>
  give(client: Client): void
  load(): { open: number; busy: number; waiting: number }
  close(): Promise<void>
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Values arrive as PGlite's do: bigint as number, date and numeric as text, JSON parsed. */
const types = {
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
  date: { to: 1082, from: [1082], serialize: String, parse: (value: string) => value },
  // An instant given as text is PostgreSQL's to read: postgres.js would make a Date of it and text again.
  instant: {
    to: 1184,
    from: [1114, 1184],
    serialize: (value: string | Date) => (typeof value === 'string' ? value : value.toISOString()),
    parse: (value: string) => new Date(value),
  },
  json: { to: 3802, from: [114, 3802], serialize: asText, parse: (value: string) => JSON.parse(value) },
}

/**
 * A plan that is kept is made without the values: not knowing how short a page is, the planner would read a million
 * rows and sort them for the newest twenty.
 */
const alongAnIndex = {
  plan_cache_mode: 'force_generic_plan',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  max_parallel_workers_per_gather: '0',
}

/** Opens no connection yet: each client connects at its first query. */
export function postgresPool(
  url: string,
  sizes: { reads: number; exclusive: number; socket?: string | undefined },
): PostgresPool {
  const open = (settings: Record<string, string> = {}): Client =>
    new Client(url, {
      ...(sizes.socket ? { path: sizes.socket } : {}),
      max: 1,
      types,
      connect_timeout: 10,
      // Compiling a statement takes longer than running one of ours: 400 ms where a large list answers in 9.
      connection: { application_name: 'merchant-api', TimeZone: 'UTC', jit: 'off', ...settings },
      onnotice: () => {},
    } as never)
  const shared = new SharedClients(sizes.reads, () => open())
  // How a statement is planned is a setting of its connection.
  const plannedOnce = new SharedClients(sizes.reads, () => open(alongAnIndex))
  const idle: Client[] = []
  const waiting: ((client: Client) => void)[] = []
  let exclusive = 0

  const pool: PostgresPool = {
    // What was never prepared has no plan to keep.
    query: (text, parameters, plan) =>
      (plan === 'once' ? plannedOnce : shared)
        .choose()
        .run(text, parameters, plan !== 'each-time') as Promise<never>,
    async script(text) {
      const client = await pool.take()
      try {
        const results: unknown = await client.sql.unsafe(text)
        return (Array.isArray(results) ? results.flat() : []) as never[]
      } catch (error) {
        await client.sql.unsafe('rollback')
        throw error
      } finally {
        pool.give(client)
      }
    },
    take() {
      const client = idle.pop()
      if (client) return Promise.resolve(client)
      if (exclusive < sizes.exclusive) {
        exclusive += 1
        // Transactions do the bulk work, on tables that grow under them: a plan kept from when they were empty
        // costs far more than planning anew.
        return Promise.resolve(open({ plan_cache_mode: 'force_custom_plan' }))
      }
      return new Promise((resolve) => waiting.push(resolve))
    },
    give(client) {
      const first = waiting.shift()
      if (first) first(client)
      else idle.push(client)
    },
    load: () => ({
      open: shared.clients.length + plannedOnce.clients.length + exclusive,
      busy: exclusive - idle.length,
      waiting: waiting.length,
    }),
    async close() {
      await Promise.all(
        [...shared.clients, ...plannedOnce.clients, ...idle].map(({ sql }) => sql.end({ timeout: 5 })),
      )
    },
  }
  return pool
}

/** A client of one connection. Its statements run in the order they were asked. */
class Client {
  readonly sql: postgres.Sql
  /** Statements that are not answered yet. */
  open = 0
  /** Connections it has lost: postgres.js opens the next by itself, where no transaction is open any more. */
  lost = 0
  /** The library's own door for what is to be sent. */
  readonly ask: (statement: Statement) => void

  constructor(url: string, options: postgres.Options<never>) {
    const onclose = (): void => {
      this.lost += 1
    }
    this.sql = postgres(url, { ...options, onclose }) as unknown as postgres.Sql
    this.ask = (this.sql.unsafe('') as unknown as { handler: (statement: Statement) => void }).handler
  }

  run(text: string, parameters: readonly unknown[], prepare = true): Promise<Rows> {
    this.open += 1
    return new Promise((resolve, reject) => {
      this.ask(new Statement(this, text, parameters, prepare, resolve, reject))
    })
  }
}

/**
 * Clients that single statements share. What is asked within one turn of the event loop goes to one of them while it
 * has little more to do than the idlest: the statements then leave in one write, which costs more than all else that a
 * small one needs here.
 */
class SharedClients {
  readonly clients: readonly Client[]
  #last: Client

  constructor(count: number, open: () => Client) {
    this.clients = Array.from({ length: count }, open)
    this.#last = this.clients[0]!
  }

  choose(): Client {
    let idlest = this.#last
    for (const client of this.clients) if (client.open < idlest.open) idlest = client
    if (this.#last.open > idlest.open + aheadAtMost) this.#last = idlest
    return this.#last
  }
}
const aheadAtMost = 2

/**
 * A statement on its way, with the fields that a connection of postgres.js reads and writes. The library's own are
 * promises whose closures name them, and under load they do not die young: each that has come into the old heap keeps
 * the next alive, until a full collection, with its parameters and rows. That was a third of all that a read allocates.
 */
class Statement {
  readonly tagged = false
  readonly isRaw = false
  readonly origin = ''
  readonly strings: readonly string[]
  readonly args: readonly unknown[]
  readonly options: { prepare: boolean; simple: boolean }
  parameters: readonly unknown[] | null
  readonly #client: Client
  readonly #resolve: (rows: Rows) => void
  readonly #reject: (error: unknown) => void
  #isOpen = true
  #isSecondTry = false
  // What the connection notes, in one shape for all.
  state: object | null = null
  statement: object | null = null
  active = false
  cancelled = null
  string = ''
  signature: unknown = ''
  prepare = false
  prepared = false
  describeFirst: unknown = false

  constructor(
    client: Client,
    text: string,
    parameters: readonly unknown[],
    prepare: boolean,
    resolve: (rows: Rows) => void,
    reject: (error: unknown) => void,
  ) {
    // postgres.js finds a prepared statement by the types of its parameters and its text, put together and hashed at
    // every call. Where PostgreSQL infers all types anyway it is given none, so that the text alone is the name.
    const isBare = prepare && parameters.length > 0 && parameters.every(isPlain)
    this.strings = [text]
    this.args = isBare ? noValues : parameters
    this.parameters = isBare ? [...parameters] : null
    this.options = parameters.length === 0 ? simple : prepare ? prepared : unprepared
    this.#client = client
    this.#resolve = resolve
    this.#reject = reject
  }

  resolve(rows: Rows): void {
    this.#end()
    this.#resolve(rows)
  }

  reject(error: unknown): void {
    // The first statement of a new connection hears why the server ended the one before, and is not sent.
    if (this.state === null && !this.#isSecondTry && isServerEnding(error)) {
      this.#isSecondTry = true
      this.#client.ask(this)
      return
    }
    this.#end()
    this.#reject(error)
  }

  /** A connection that was lost may end one twice. */
  #end(): void {
    if (this.#isOpen) this.#client.open -= 1
    this.#isOpen = false
  }
}

/** `57P01` to `57P03`: shut down, crashed, starting. */
const isServerEnding = (error: unknown): boolean => /^57P0/.test(String((error as { code?: unknown }).code))

const noValues: readonly unknown[] = []
const simple = { prepare: false, simple: true }
const prepared = { prepare: true, simple: false }
const unprepared = { prepare: false, simple: false }
/** Whether postgres.js sends it without a type of its own. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || value === null

type Rows = unknown[] & { count: number | null; command: string | null }

/** Kysely over the pool: a lone statement goes to a shared client, a transaction gets one of its own. */
export class PipelinedDialect implements Dialect {
  readonly #pool: PostgresPool
  constructor(pool: PostgresPool) {
    this.#pool = pool
  }
  createDriver(): Driver {
    return new PipelinedDriver(this.#pool)
  }
  createQueryCompiler(): QueryCompiler {
    return new PostgresQueryCompiler()
  }
  createAdapter(): DialectAdapter {
    return new PostgresAdapter()
  }
  createIntrospector(db: Kysely<unknown>): DatabaseIntrospector {
    return new PostgresIntrospector(db)
  }
}

class PipelinedDriver implements Driver {
  readonly #pool: PostgresPool
  constructor(pool: PostgresPool) {
    this.#pool = pool
  }
  async init(): Promise<void> {}
  async acquireConnection(): Promise<DatabaseConnection> {
    return new PipelinedConnection(this.#pool)
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
  #own: Client | null = null
  /** BEGIN travels with the first statement; a failed BEGIN shows there. */
  #begun: Promise<unknown> | null = null
  #lostBefore = 0
  constructor(pool: PostgresPool) {
    this.#pool = pool
  }

  /** The client of the transaction. A statement on its next connection would be outside of it, and stay. */
  #held(own: Client): Client {
    if (own.lost !== this.#lostBefore) throw new Error('The connection was lost, and its transaction with it')
    return own
  }

  async begin(settings: TransactionSettings): Promise<void> {
    this.#own = await this.#pool.take()
    const isolation = settings.isolationLevel ? ` isolation level ${settings.isolationLevel}` : ''
    const access = settings.accessMode ? ` ${settings.accessMode}` : ''
    this.#lostBefore = this.#own.lost
    this.#begun = this.#own.run(`begin${isolation}${access}`, [])
    this.#begun.catch(() => undefined) // seen by the first statement, which awaits it too
  }

  async end(command: 'commit' | 'rollback'): Promise<void> {
    // After a commit that failed there is nothing to roll back: its reason must not be lost.
    if (!this.#own) return
    try {
      await this.#begun
      // Lost with its connection: that undid it.
      if (command === 'rollback' && this.#own.lost !== this.#lostBefore) return
      const done = await this.#held(this.#own).run(command, [])
      // A commit of a failed transaction answers ROLLBACK without an error.
      if (command === 'commit' && done.command === 'ROLLBACK') {
        throw new Error('The transaction had failed and was rolled back')
      }
    } finally {
      this.release()
    }
  }

  async command(text: string): Promise<void> {
    await this.#held(this.#own!).run(text, [])
  }

  release(): void {
    if (!this.#own) return
    this.#pool.give(this.#own)
    this.#own = null
    this.#begun = null
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    // Statement first, so that BEGIN and it leave in one packet.
    const running = this.#own
      ? this.#held(this.#own).run(query.sql, query.parameters)
      : this.#pool.query<R>(query.sql, query.parameters)
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
