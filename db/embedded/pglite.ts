/**
 * PGlite that keeps what it has prepared, as our connections to a PostgreSQL server do: a statement takes one round, and
 * two where it is new. Its own `query` parses and plans each anew, in five.
 */
import {
  messages,
  PGlite,
  protocol,
  type QueryOptions,
  type Results,
  type Transaction,
} from '@electric-sql/pglite'

const { serialize } = protocol

interface Statement {
  name: string
  /** What makes a parameter's text, by position. */
  serializers: readonly ((value: unknown) => string)[]
  columns: readonly { name: string; dataTypeID: number; parse: (text: string) => unknown }[]
  /** It drops what is kept. */
  forgets: boolean
}

/** PostgreSQL itself has failed, as a crash would end a server: nothing that it says from here on can be relied on. */
export class EmbeddedFailure extends Error {
  override name = 'EmbeddedFailure'
}

/** What PGlite 0.5.14 has of PostgreSQL's main loop: by throwing `status` PostgreSQL goes back to it after an error. */
interface MainLoop {
  mod?: { _PostgresMainLoopOnce(): void }
  POSTGRES_MAIN_LONGJMP: number
}

/** Each takes some hundred kilobytes of the session, which it never gives back to the system. */
const keptAtMost = 500
/** Long texts are lists of rows, hardly twice of the same length. */
const longestKept = 20_000

const forgetting = /\b(discard\s+all|deallocate)\b/i
const invalidName = '26000'
const notSupported = '0A000'

export class PreparingPglite extends PGlite {
  /** The one that was used last comes last; null for what was seen once: it is prepared when it comes back. */
  readonly #known = new Map<string, Statement | null>()
  #names = 0
  #isWatched = false
  /** Why it has failed. */
  #cause: unknown
  #hasFailed = false
  readonly #failing = Promise.withResolvers<EmbeddedFailure>()

  /** Never, where it does not fail. */
  get whenFailed(): Promise<EmbeddedFailure> {
    return this.#failing.promise
  }

  /** PGlite passes over whatever else is thrown there, a stack that is full too: the statement would seem to have found nothing. */
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
      if (forgetting.test(text)) this.#known.clear()
    }
  }

  override transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return super.transaction(async (transaction) => {
      const running = new Set<Promise<unknown>>()
      let failure: unknown = null
      const heard = <R>(asked: Promise<R>): Promise<R> => {
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
              heard(
                transaction.closed || !isPlain(options)
                  ? transaction.query(text, parameters, options)
                  : this.#run(text, parameters),
              ),
          },
        }),
      )
      // What it began and did not await is in it.
      await Promise.all(running)
      // Where one has failed its commit undoes it, and PGlite says nothing of that: this does.
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
        // A transaction that has failed has to end first.
        if (!isOutdated || !isOutside) throw asked(error, text, parameters)
        return await this.#execute<Row>(text, parameters).catch((again) => {
          throw asked(again, text, parameters)
        })
      } finally {
        if (isOutside) await this.syncToFs()
      }
    })
  }

  /** Somebody dropped what we keep, or changed the table that it reads: it is made anew the next time. */
  async #isOutdated(text: string, error: unknown): Promise<boolean> {
    const name = this.#known.get(text)?.name
    if (name === undefined || !(error instanceof messages.DatabaseError)) return false
    const isGone = error.code === invalidName && error.message.includes(`"${name}"`)
    const isChanged = error.code === notSupported && error.message.includes('cached plan')
    if (!isGone && !isChanged) return false
    this.#known.delete(text)
    await this.#drop(name)
    return true
  }

  async #execute<Row>(text: string, parameters: readonly unknown[]): Promise<Results<Row>> {
    const { name, serializers, columns, forgets } = await this.#statement(text)
    const values = parameters.map((value, index) =>
      value == null ? null : sendable((serializers[index] ?? String)(value)),
    )
    const answers = await this.#send(
      serialize.bind({ statement: name, values }),
      serialize.execute({}),
      serialize.sync(),
    )
    const rows: Row[] = []
    let affectedRows = 0
    for (const answer of answers) {
      if (answer instanceof messages.DataRowMessage) rows.push(rowOf(columns, answer.fields) as Row)
      else if (answer instanceof messages.CommandCompleteMessage) affectedRows = affectedBy(answer.text)
    }
    if (forgets) this.#known.clear()
    return { rows, affectedRows, fields: columns.map(({ name, dataTypeID }) => ({ name, dataTypeID })) }
  }

  /** Kept from the second time on: most are asked once. */
  async #statement(text: string): Promise<Statement> {
    if (text.length > longestKept) return this.#prepare(text, '')
    const known = this.#known.get(text)
    this.#known.delete(text)
    const statement = known ?? (await this.#prepare(text, known === null ? this.#newName() : ''))
    this.#known.set(text, statement.name ? statement : null)
    await this.#dropOldest()
    return statement
  }

  #newName(): string {
    this.#names += 1
    return `kept_${this.#names}`
  }

  /** Without a name it is there until the next one. */
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
      forgets: forgetting.test(text),
      serializers: (parameters?.dataTypeIDs ?? []).map((type) => this.serializers[type] ?? String),
      columns: (row?.fields ?? []).map(({ name: column, dataTypeID }) => {
        const parse = this.parsers[dataTypeID]
        return { name: column, dataTypeID, parse: parse ? (value) => parse(value, dataTypeID) : asItIs }
      }),
    }
  }

  async #dropOldest(): Promise<void> {
    for (const [text, statement] of this.#known) {
      if (this.#known.size <= keptAtMost) return
      this.#known.delete(text)
      if (statement) await this.#drop(statement.name)
    }
  }

  async #drop(name: string): Promise<void> {
    await this.#send(serialize.close({ type: 'S', name }), serialize.sync())
  }

  /** In one round; throws the first fault, and the rest up to the `sync` is not done. */
  #send(...parts: readonly Uint8Array[]) {
    return this.execProtocolStream(Buffer.concat(parts), { syncToFs: false })
  }
}

const isPlain = (options: QueryOptions | undefined): boolean =>
  !options || Object.entries(options).every(([name, value]) => name === 'rowMode' && value === 'object')

/** A fault of the database's with what was asked, as PGlite's own `query` tells it. */
const asked = (error: unknown, query: string, params: readonly unknown[]): unknown =>
  error instanceof messages.DatabaseError ? Object.assign(error, { query, params }) : error

/** Halves of a message would stay with the next one. */
function sendable(value: unknown): string {
  if (typeof value === 'string' || value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return value as string
  throw new TypeError(
    `A parameter cannot be sent as ${typeof value}: give what its type in the statement takes`,
  )
}

const asItIs = (value: string): unknown => value

function rowOf(columns: Statement['columns'], fields: readonly (string | null)[]): Record<string, unknown> {
  const row: Record<string, unknown> = {}
  for (let i = 0; i < columns.length; i += 1) {
    const field = fields[i]!
    row[columns[i]!.name] = field === null ? null : columns[i]!.parse(field)
  }
  return row
}

const counted = /^(?:INSERT \d+|UPDATE|DELETE|COPY|MERGE) (\d+)$/

/** As PGlite counts: 0 for what changes nothing. */
const affectedBy = (command: string): number => Number(counted.exec(command)?.[1] ?? 0)
