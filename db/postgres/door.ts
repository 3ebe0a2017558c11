/**
 * The door by which postgres.js takes statements of its own, which it does not document: a statement costs a fifth less
 * by it, and who asks hears whether it was sent at all. Whatever we know of the library's insides stands in this file:
 *
 * - a query made by `sql.unsafe` carries the `handler` that takes what is to be sent, in the order in which it is given;
 * - its connection reads and writes the fields of `Statement`, and no others; `state` is set as it is written;
 * - `socket` is called at every dial, with `host`, `port` and `path`; the library listens to what it answers at once;
 * - `onclose` is heard once all that was sent has failed, and before what waits is given to a next connection;
 * - rows are counted on where a statement failed amid its own: `closeUp` puts that right (`test/runtime/failing-rows.test.ts`).
 *
 * Another version, or another shape, is refused before anything is sent. `test/runtime/postgres.test.ts` tries what it
 * does, on every PostgreSQL that we work with.
 */
import { readFileSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { Socket } from 'node:net'
import postgres from 'postgres'

/** The one whose insides these are. */
export const knownVersion = '3.4.9'

export type Rows = unknown[] & { count: number | null; command: string | null }

/** Who sends it, and hears what became of it. */
export interface StatementOwner {
  take(statement: Statement): void
  /** A statement is through; `heard` where it was answered. */
  ended(statement: Statement, heard: boolean): void
  /** There was no connection to send it on. */
  couldNotSend(statement: Statement, error: unknown): void
}

/** One connection, dialled at its first statement. What is asked after it was lost is sent by nobody: open another. */
export class Line {
  readonly #sql: postgres.Sql
  readonly #ask: (statement: Statement) => void
  #socket: Socket | null = null
  #isGivenUp = false

  /** `closed`: the connection is gone; what is still open then was not sent, and will not be by this line. */
  constructor(url: string, options: object, closed: () => void) {
    let dials = 0
    // The socket is ours to destroy: the library only says goodbye, which nobody may hear.
    const socket = ({ host, port, path }: Address): Socket => {
      if (this.#isGivenUp) throw new Error('The connection was given up')
      const dialled = new Socket()
      const at = dials++ % host.length
      this.#socket = dialled
      // In a microtask: the library listens by then, also for an address that fails at once.
      queueMicrotask(() => (path ? dialled.connect(path) : dialled.connect(port[at]!, host[at]!)))
      return Object.assign(dialled, path ? {} : { host: host[at], port: port[at] })
    }
    const onclose = (): void => {
      if (!this.#isGivenUp) closed()
    }
    // The types of arrays are asked for as it opens, with nobody awaiting the answer: a connection that is lost just then
    // would end the process. Those that we know come with the options.
    const ours = { max: 1, socket, onclose, fetch_types: false }
    this.#sql = postgres(url, { ...options, ...ours } as never)
    this.#ask = doorOf(this.#sql)
  }

  ask(statement: Statement): void {
    this.#ask(statement)
  }

  /** Fails what is on it, as if it had been lost. */
  async giveUp(): Promise<void> {
    this.#isGivenUp = true
    await this.end(0)
  }

  /** Lets what is open finish for so many seconds. */
  async end(seconds: number): Promise<void> {
    await this.#sql.end({ timeout: seconds })
    this.#socket?.destroy()
  }
}

interface Address {
  host: string[]
  port: number[]
  path?: string | false
}

/** What a query of the library has of its own; a field more or less is something that `Statement` should know of. */
const queryFields = [
  'active',
  'args',
  'cancelled',
  'canceller',
  'executed',
  'handler',
  'options',
  'reject',
  'resolve',
  'signature',
  'state',
  'statement',
  'strings',
  'tagged',
]

/** Throws one sentence for a library whose insides are not those that are known here. */
export function doorOf(
  sql: Pick<postgres.Sql, 'unsafe'>,
  installed = installedVersion(),
): (statement: Statement) => void {
  const query = sql.unsafe('') as unknown as { handler?: (statement: Statement) => void }
  const fields = Object.getOwnPropertyNames(query).sort().join()
  const isKnown = fields === queryFields.join() && query.handler?.length === 1
  if (installed === knownVersion && isKnown) return query.handler!
  const found = installed === knownVersion ? `${installed} in another shape` : installed
  throw new Error(
    `postgres ${found} is installed, and db/postgres/door.ts knows the insides of ${knownVersion}: ` +
      `install postgres@${knownVersion}, or read there what has to hold, name the other one, and run test/runtime/postgres.test.ts beside each PostgreSQL`,
  )
}

let read: string | null = null
function installedVersion(): string {
  read ??= readFileSync(findPackageJSON('postgres', import.meta.url)!, 'utf8')
  return (JSON.parse(read) as { version: string }).version
}

/**
 * A statement on its way, with the fields that a connection of postgres.js reads and writes. The library's own are
 * promises whose closures name them, and under load they do not die young: each that has come into the old heap keeps
 * the next alive, until a full collection, with its parameters and rows. That was a third of all that a read allocates.
 */
export class Statement {
  readonly tagged = false
  readonly isRaw = false
  readonly origin = ''
  readonly strings: readonly string[]
  readonly args: readonly unknown[]
  options: { prepare: boolean; simple: boolean }
  parameters: readonly unknown[] | null
  readonly #owner: StatementOwner
  readonly #resolve: (rows: Rows) => void
  readonly #reject: (error: unknown) => void
  readonly isSecondTry: boolean
  #isOpen = true
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
    owner: StatementOwner,
    text: string,
    parameters: readonly unknown[],
    prepare: boolean,
    resolve: (rows: Rows) => void,
    reject: (error: unknown) => void,
    isSecondTry = false,
  ) {
    // postgres.js finds a prepared statement by the types of its parameters and its text, put together and hashed at
    // every call, and asks for the types of one that is not prepared before it sends it. Where PostgreSQL infers all
    // types anyway it is given none: the text alone is the name, and one way there is enough.
    const isBare = parameters.length > 0 && parameters.every(isPlain)
    if (parameters.length > parametersAtMost) {
      throw new RangeError(`A statement takes at most ${parametersAtMost} parameters: give it a recordset`)
    }
    this.strings = [text]
    this.args = isBare ? noValues : parameters.map(writable)
    this.parameters = isBare ? [...parameters] : null
    this.options = parameters.length === 0 ? simple : prepare ? prepared : unprepared
    this.#owner = owner
    this.#resolve = resolve
    this.#reject = reject
    this.isSecondTry = isSecondTry
  }

  get text(): string {
    return this.strings[0]!
  }

  /** Of its parameters, as far as the library tells prepared statements apart by them. */
  get kinds(): string {
    return this.parameters === null ? this.args.map(kindOf).join('') : ''
  }

  get isKept(): boolean {
    return this.options.prepare
  }

  /** Its connection has no room for one more. */
  keepNot(): void {
    this.options = unprepared
  }

  resolve(rows: Rows): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#owner.ended(this, true)
    closeUp(rows)
    // Of several statements in one text each has rows of its own.
    if (Array.isArray(rows[0])) closeUp(rows[0])
    this.#resolve(rows)
  }

  /** A connection that was lost may say so twice. */
  reject(error: unknown): void {
    if (!this.#isOpen) return
    if (this.state === null) this.#owner.couldNotSend(this, error)
    else this.fail(error)
  }

  fail(error: unknown): void {
    this.#isOpen = false
    this.#owner.ended(this, false)
    this.#reject(error)
  }

  /** As another one, which the connection that did not send it knows nothing of. */
  goTo(owner: StatementOwner, isSecondTry: boolean): void {
    this.#isOpen = false
    this.#owner.ended(this, false)
    const parameters = this.parameters ?? this.args
    const { prepare } = this.options
    owner.take(new Statement(owner, this.text, parameters, prepare, this.#resolve, this.#reject, isSecondTry))
  }
}

/**
 * Where a statement has failed amid its rows the library counts on from there, and the next one begins with as many places
 * that are empty.
 */
function closeUp(rows: unknown[]): void {
  if (rows.length === 0 || 0 in rows) return
  let first = 1
  while (!(first in rows)) first += 1
  rows.splice(0, first)
}

/** A letter or two for what the library infers the type of a parameter from. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return '0'
  if (value instanceof Date) return 'd'
  if (value instanceof Uint8Array) return 'x'
  return Array.isArray(value) ? `a${kindOf(value[0])}` : typeof value === 'boolean' ? 't' : (typeof value)[0]!
}

/** From one more on the library refuses, as below. */
const parametersAtMost = 65_533

/**
 * What the library cannot write it notices when the statement stands among those sent already: it then fails another for
 * it, and the answers of all that follow belong to nobody. So it is refused here.
 */
function writable(value: unknown): unknown {
  if (value === null || value instanceof Uint8Array) return value
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new RangeError('A parameter is an invalid date')
    return value
  }
  if (Array.isArray(value)) {
    for (const each of value) {
      // The library takes the type of the first for that of the list.
      if (each instanceof Date || each instanceof Uint8Array || ['bigint', 'boolean'].includes(typeof each)) {
        throw new TypeError('A parameter is a list of dates, bigints, booleans or bytes: give them as text')
      }
      writable(each)
    }
    return value
  }
  if (typeof value === 'object') return JSON.stringify(value)
  if (writableTypes.has(typeof value)) return value
  throw new TypeError(`A parameter is ${typeof value}, which PostgreSQL has nothing for`)
}
const writableTypes: ReadonlySet<string> = new Set(['string', 'number', 'boolean', 'bigint'])

const noValues: readonly unknown[] = []
const simple = { prepare: false, simple: true }
const prepared = { prepare: true, simple: false }
const unprepared = { prepare: false, simple: false }
/** Whether the library sends it without a type of its own. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || value === null
