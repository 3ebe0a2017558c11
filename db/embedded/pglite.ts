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
}

/** Each takes some hundred kilobytes of the session, which it never gives back to the system. */
const keptAtMost = 500
/** Long texts are lists of rows, hardly twice of the same length. */
const longestKept = 20_000

const invalidName = '26000'
const notSupported = '0A000'

export class PreparingPglite extends PGlite {
  /** The one that was used last comes last; null for what was seen once: it is prepared when it comes back. */
  readonly #known = new Map<string, Statement | null>()
  #names = 0

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
      if (/\b(discard\s+all|deallocate)\b/i.test(text)) this.#known.clear()
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
        if (!(error instanceof messages.DatabaseError)) throw error
        if (isOutside && this.#isOutdated(text, error)) return await this.#execute<Row>(text, parameters)
        throw Object.assign(error, { query: text, params: parameters })
      } finally {
        if (isOutside) await this.syncToFs()
      }
    })
  }

  /** Somebody dropped the statement, or changed the table that it reads. */
  #isOutdated(text: string, { code, message }: messages.DatabaseError): boolean {
    if (code === invalidName) this.#known.clear()
    else if (code === notSupported && message.includes('cached plan')) this.#known.delete(text)
    else return false
    return true
  }

  async #execute<Row>(text: string, parameters: readonly unknown[]): Promise<Results<Row>> {
    const { name, serializers, columns } = await this.#statement(text)
    const values = parameters.map((value, index) => (value == null ? null : serializers[index]!(value)))
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
      if (statement) await this.#send(serialize.close({ type: 'S', name: statement.name }), serialize.sync())
    }
  }

  /** In one round; throws the first fault, and the rest up to the `sync` is not done. */
  #send(...parts: readonly Uint8Array[]) {
    return this.execProtocolStream(Buffer.concat(parts), { syncToFs: false })
  }
}

const isPlain = (options: QueryOptions | undefined): boolean =>
  !options || Object.entries(options).every(([name, value]) => name === 'rowMode' && value === 'object')

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
