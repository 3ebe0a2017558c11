/**
 * PGlite with a cache of prepared statements, like our connections to a PostgreSQL server. A cached statement takes one
 * round trip, a new one two. PGlite's own `query` parses and plans every statement again, in five round trips.
 */
import {
  messages,
  PGlite,
  protocol,
  type QueryOptions,
  type Results,
  type Transaction,
} from '@electric-sql/pglite'
import { FileAddresses } from '../file-addresses.ts'

const { serialize } = protocol

interface Statement {
  name: string
  /** Converts parameters to text, by position. */
  serializers: readonly ((value: unknown) => string)[]
  columns: readonly { name: string; dataTypeID: number; parse: (text: string) => unknown }[]
  /** Whether the statement drops prepared statements, such as `deallocate`. */
  dropsCache: boolean
}

/** PGlite itself has failed, like a server that crashed: its later answers cannot be trusted. */
export class EmbeddedFailure extends Error {
  override name = 'EmbeddedFailure'
}

/**
 * The part of PostgreSQL's main loop that PGlite 0.5.14 exposes. After an error of a statement, PostgreSQL returns to
 * the main loop by throwing an exception with the status `POSTGRES_MAIN_LONGJMP`.
 */
interface MainLoop {
  mod?: { _PostgresMainLoopOnce(): void }
  POSTGRES_MAIN_LONGJMP: number
}

/**
 * The maximum number of cached statements. Each takes a few hundred kilobytes of memory, which PGlite never returns to
 * the system.
 */
const cachedStatementsAtMost = 500
/** The longest text that is cached. Longer texts are lists of rows, which are hardly ever repeated. */
const longestCached = 20_000

const cacheDroppingPattern = /\b(discard\s+all|deallocate)\b/i
const invalidName = '26000'
const notSupported = '0A000'

export class PreparingPglite extends PGlite {
  readonly fileAddresses = new FileAddresses()
  /** By text, least recently used first. Null for a text that was used once: it is prepared at its second use. */
  readonly #statements = new Map<string, Statement | null>()
  #names = 0
  #isWatched = false
  /** The cause of the failure. */
  #cause: unknown
  #hasFailed = false
  readonly #failing = Promise.withResolvers<EmbeddedFailure>()

  /** Resolves when PGlite fails. */
  get whenFailed(): Promise<EmbeddedFailure> {
    return this.#failing.promise
  }

  /**
   * Throws if PGlite has failed. PGlite itself ignores errors of its main loop, such as a stack overflow: a statement
   * would seem to have found nothing.
   */
  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    this.#watch()
    if (this.#hasFailed) throw this.#failure()
    const answer = super.execProtocolRawSync(message)
    if (this.#hasFailed) throw this.#failure()
    return answer
  }

  #watch(): void {
    const { mod, POSTGRES_MAIN_LONGJMP: goesBack } = this as unknown as MainLoop
    if (this.#isWatched || !mod) return
    this.#isWatched = true
    const once = mod._PostgresMainLoopOnce
    mod._PostgresMainLoopOnce = () => {
      try {
        once()
      } catch (error) {
        if ((error as { status?: number }).status !== goesBack && !this.#hasFailed) {
          ;[this.#hasFailed, this.#cause] = [true, error]
          this.#failing.resolve(this.#failure())
        }
        throw error
      }
    }
  }

  #failure(): EmbeddedFailure {
    return new EmbeddedFailure(
      'The embedded database has failed, and answers nothing more: start the server again',
      { cause: this.#cause },
    )
  }

  override async query<Row>(
    text: string,
    parameters: unknown[] = [],
    options?: QueryOptions,
  ): Promise<Results<Row>> {
    if (!isPlain(options)) return super.query<Row>(text, parameters, options)
    await this._checkReady()
    return this._runExclusiveTransaction(() => this.#run<Row>(text, parameters))
  }

  override async exec(text: string, options?: QueryOptions): Promise<Results[]> {
    try {
      return await super.exec(text, options)
    } finally {
      if (cacheDroppingPattern.test(text)) this.#statements.clear()
    }
  }

  override transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return super.transaction(async (transaction) => {
      const running = new Set<Promise<unknown>>()
      let failure: unknown = null
      const track = <R>(asked: Promise<R>): Promise<R> => {
        const end: Promise<unknown> = asked
          .catch((error) => {
            failure ??= error
          })
          .then(() => running.delete(end))
        running.add(end)
        return asked
      }
      const done = await work(
        Object.create(transaction, {
          query: {
            value: (text: string, parameters: unknown[] = [], options?: QueryOptions) =>
              track(
                transaction.closed || !isPlain(options)
                  ? transaction.query(text, parameters, options)
                  : this.#run(text, parameters),
              ),
          },
        }),
      )
      // Statements that were not awaited still belong to the transaction.
      await Promise.all(running)
      // If one of them failed, COMMIT would roll back without an error. This statement then fails and reports it.
      if (failure && !transaction.closed) {
        await transaction.query('select 1').catch(() => {
          throw failure
        })
      }
      return done
    })
  }

  #run<Row>(text: string, parameters: readonly unknown[]): Promise<Results<Row>> {
    return this._runExclusiveQuery(async () => {
      const isOutside = !this.isInTransaction()
      try {
        return await this.#execute<Row>(text, parameters)
      } catch (error) {
        const isOutdated = await this.#isOutdated(text, error)
        // Retried only outside a transaction, which has failed now and must end first.
        if (!isOutdated || !isOutside) throw addQuery(error, text, parameters)
        return await this.#execute<Row>(text, parameters).catch((again) => {
          throw addQuery(again, text, parameters)
        })
      } finally {
        if (isOutside) await this.syncToFs()
      }
    })
  }

  /** Whether the prepared statement was dropped or its table changed; removes it, so that it is prepared again. */
  async #isOutdated(text: string, error: unknown): Promise<boolean> {
    const name = this.#statements.get(text)?.name
    if (name === undefined || !(error instanceof messages.DatabaseError)) return false
    const isGone = error.code === invalidName && error.message.includes(`"${name}"`)
    const isChanged = error.code === notSupported && error.message.includes('cached plan')
    if (!isGone && !isChanged) return false
    this.#statements.delete(text)
    await this.#drop(name)
    return true
  }

  async #execute<Row>(text: string, parameters: readonly unknown[]): Promise<Results<Row>> {
    const { name, serializers, columns, dropsCache } = await this.#statement(text)
    const values = parameters.map((value, index) =>
      value == null
        ? null
        : this.fileAddresses.parameter(requireSendable((serializers[index] ?? String)(value))),
    )
    const answers = await this.#send(
      serialize.bind({ statement: name, values }),
      serialize.execute({}),
      serialize.sync(),
    )
    const rows: Row[] = []
    let affectedRows = 0
    for (const answer of answers) {
      if (answer instanceof messages.DataRowMessage) rows.push(this.#toRow(columns, answer.fields) as Row)
      else if (answer instanceof messages.CommandCompleteMessage)
        affectedRows = parseAffectedRows(answer.text)
    }
    if (dropsCache) this.#statements.clear()
    return { rows, affectedRows, fields: columns.map(({ name, dataTypeID }) => ({ name, dataTypeID })) }
  }

  #toRow(columns: Statement['columns'], fields: readonly (string | null)[]): Record<string, unknown> {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < columns.length; i += 1) {
      const field = fields[i]!
      row[columns[i]!.name] = field === null ? null : columns[i]!.parse(this.fileAddresses.toCurrent(field))
    }
    return row
  }

  /** Prepares a statement. It is cached from its second use on, since most are used only once. */
  async #statement(text: string): Promise<Statement> {
    if (text.length > longestCached) return this.#prepare(text, '')
    const known = this.#statements.get(text)
    this.#statements.delete(text)
    const statement = known ?? (await this.#prepare(text, known === null ? this.#newName() : ''))
    this.#statements.set(text, statement.name ? statement : null)
    await this.#dropOldest()
    return statement
  }

  #newName(): string {
    this.#names += 1
    return `kept_${this.#names}`
  }

  /** Prepares a statement under a name. With an empty name it is replaced by the next unnamed one. */
  async #prepare(text: string, name: string): Promise<Statement> {
    const answers = await this.#send(
      serialize.parse({ name, text }),
      serialize.describe({ type: 'S', name }),
      serialize.sync(),
    )
    const parameters = answers.find((each) => each instanceof messages.ParameterDescriptionMessage)
    const row = answers.find((each) => each instanceof messages.RowDescriptionMessage)
    return {
      name,
      dropsCache: cacheDroppingPattern.test(text),
      serializers: (parameters?.dataTypeIDs ?? []).map((type) => this.serializers[type] ?? String),
      columns: (row?.fields ?? []).map(({ name: column, dataTypeID }) => {
        const parse = this.parsers[dataTypeID]
        return { name: column, dataTypeID, parse: parse ? (value) => parse(value, dataTypeID) : asItIs }
      }),
    }
  }

  async #dropOldest(): Promise<void> {
    for (const [text, statement] of this.#statements) {
      if (this.#statements.size <= cachedStatementsAtMost) return
      this.#statements.delete(text)
      if (statement) await this.#drop(statement.name)
    }
  }

  async #drop(name: string): Promise<void> {
    await this.#send(serialize.close({ type: 'S', name }), serialize.sync())
  }

  /** Sends messages in one round trip; throws the first error, after which PostgreSQL skips messages up to `sync`. */
  #send(...parts: readonly Uint8Array[]) {
    return this.execProtocolStream(Buffer.concat(parts), { syncToFs: false })
  }
}

const isPlain = (options: QueryOptions | undefined): boolean =>
  !options || Object.entries(options).every(([name, value]) => name === 'rowMode' && value === 'object')

/** Adds the query to a database error, as PGlite's own `query` does. */
const addQuery = (error: unknown, query: string, params: readonly unknown[]): unknown =>
  error instanceof messages.DatabaseError ? Object.assign(error, { query, params }) : error

/** Refuses a value that cannot be sent, before half of a message is written. */
function requireSendable(value: unknown): string {
  if (typeof value === 'string' || value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return value as string
  throw new TypeError(
    `A parameter cannot be sent as ${typeof value}: give what its type in the statement takes`,
  )
}

const asItIs = (value: string): unknown => value

const counted = /^(?:INSERT \d+|UPDATE|DELETE|COPY|MERGE) (\d+)$/

/** Reads the number of affected rows from a command tag; 0 for statements that change nothing, as in PGlite. */
const parseAffectedRows = (command: string): number => Number(counted.exec(command)?.[1] ?? 0)
