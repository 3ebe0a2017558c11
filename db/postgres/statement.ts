/** A statement on its way over a connection of postgres.js, by the door through which the library takes its own. */

export type Rows = unknown[] & { count: number | null; command: string | null }

/** Who sends it, and hears what became of it. */
export interface StatementOwner {
  take(statement: Statement): void
  /** A statement is through; `heard` where it was answered. */
  ended(statement: Statement, heard: boolean): void
  /** There was no connection to send it on. */
  couldNotSend(statement: Statement, error: unknown): void
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
  readonly options: { prepare: boolean; simple: boolean }
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
    // every call. Where PostgreSQL infers all types anyway it is given none, so that the text alone is the name.
    const isBare = prepare && parameters.length > 0 && parameters.every(isPlain)
    this.strings = [text]
    this.args = isBare ? noValues : parameters
    this.parameters = isBare ? [...parameters] : null
    this.options = parameters.length === 0 ? simple : prepare ? prepared : unprepared
    this.#owner = owner
    this.#resolve = resolve
    this.#reject = reject
    this.isSecondTry = isSecondTry
  }

  resolve(rows: Rows): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#owner.ended(this, true)
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

  /** As another one, which the connection that could not send it knows nothing of. */
  goTo(owner: StatementOwner): void {
    this.#isOpen = false
    this.#owner.ended(this, false)
    const [text] = this.strings as [string]
    const parameters = this.parameters ?? this.args
    const { prepare } = this.options
    owner.take(new Statement(owner, text, parameters, prepare, this.#resolve, this.#reject, true))
  }
}

const noValues: readonly unknown[] = []
const simple = { prepare: false, simple: true }
const prepared = { prepare: true, simple: false }
const unprepared = { prepare: false, simple: false }
/** Whether postgres.js sends it without a type of its own. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || value === null
