/**
 * One connection to a PostgreSQL server: an instance of postgres.js that connects once. A connection that was lost, or
 * is silent for too long, is closed with all its open statements: no statement of a transaction is ever sent on
 * another connection, and no late answer is assigned to the wrong statement.
 */
import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { ConnectionLost } from '../deadlines.ts'
import { toParameter } from './values.ts'

export type Rows = unknown[] & {
  count: number | null
  command: string | null
  /** Absent for a text with several statements. */
  statement?: { string: string; name: string }
}

/** Counts the pool's ticks. Time in which this process was suspended does not count. */
export interface Watch {
  tick: number
}

export interface ConnectionParts {
  url: string
  options: { prepare: boolean; connect_timeout: number } & Record<string, unknown>
  watch: Watch
  /** Ticks without an answer after which it is closed. */
  patience: number
  /** The tick after which it is replaced. */
  lastTick: number
  onGone(): void
}

/**
 * PostgreSQL keeps a prepared statement with its plan: eighty bytes or more per character, and lists have many texts.
 */
const charactersAtMost = 500_000
/** A longer text has many rows, and is hardly ever repeated. */
const longestPrepared = 50_000

const parametersAtMost = 65_533

/** Errors of a prepared statement after which the library prepares it again. */
const preparedAgain = /^(FetchPreparedStatement|RevalidateCachedQuery|transformAssignedExpr)$/

export class Connection {
  /** Statements without an answer yet. */
  open = 0
  patience: number
  /** Something behind it, such as a node of a cluster, is unreachable: it will be replaced. */
  isSuspect = false
  isGone = false
  /** Resolves once the connection can be used; rejects with the reason it cannot. */
  readonly ready: Promise<void>
  #wasReady = false
  #isFull = false
  /** Why it was closed. */
  #reason: Error | null = null
  /** The tick of the last answer, or of the first statement after an idle time. */
  movedAt = 0
  #socket: Socket | null = null
  /** Called once no statement is open. */
  #drained = (): void => {}
  readonly #sql: postgres.Sql
  readonly #parts: ConnectionParts
  /** The name by which the library prepared each text; '' until the first answer. */
  readonly #prepared = new Map<string, string>()
  #characters = 0

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.patience = parts.patience
    let dials = 0
    this.#sql = postgres(parts.url, {
      ...parts.options,
      max: 1,
      max_lifetime: null, // what is asked as it ends would fail
      // Nobody awaits the library's own query for array types: a connection lost just then would end the process.
      fetch_types: false,
      onnotice: () => {},
      onclose: () => this.leave(new ConnectionLost('The connection was lost')),
      socket: ({ host, port, path }: { host: string[]; port: number[]; path: string | false }): Socket => {
        // Each host once: a server that only hangs up would be dialled endlessly.
        if (this.isGone || this.#wasReady || dials === host.length) {
          this.leave(new ConnectionLost('The server hung up'))
        }
        if (this.#reason) throw this.#reason
        const socket = new Socket()
        const at = dials++ % host.length
        this.#socket = socket
        // With several hosts the library reports no error. At this point all of them were tried.
        if (dials === host.length) socket.once('error', (error) => this.#wasReady || this.leave(error))
        // At `connect_timeout` the library fails without trying the next one: a silent host gets half of it.
        else setTimeout(() => this.#wasReady || socket.destroy(), parts.options.connect_timeout * 500).unref()
        // In a microtask: the library has attached its listeners by then, also for an address that fails at once.
        queueMicrotask(() => (path ? socket.connect(path) : socket.connect(port[at]!, host[at]!)))
        return Object.assign(socket, path ? {} : { host: host[at], port: port[at] })
      },
    } as never)
    this.ready = this.#await(this.#sql.unsafe('select 1')).then(() => {
      this.#wasReady = true
    })
    this.ready.catch((error) => this.leave(error)) // each statement fails with it as well
  }

  /** It can be used, or could until it was lost: otherwise nothing was sent. */
  get wasReady(): boolean {
    return this.#wasReady
  }

  get isLive(): boolean {
    return this.#wasReady && !this.isGone
  }

  /** It will be replaced as soon as it is idle. */
  get isWorn(): boolean {
    return this.isSuspect || this.#isFull || this.#parts.watch.tick > this.#parts.lastTick
  }

  /** Ticks since the last answer, while one is awaited. */
  get silentFor(): number {
    return this.open === 0 ? 0 : this.#parts.watch.tick - this.movedAt
  }

  /** Statements are answered in the order of sending. `prepare`: PostgreSQL keeps the text for the next time. */
  run(text: string, parameters: readonly unknown[], prepare = true): Promise<Rows> {
    if (this.isGone) return Promise.reject(this.#reason ?? closed())
    let values: never[]
    try {
      if (parameters.length > parametersAtMost) {
        throw new RangeError(`A statement takes at most ${parametersAtMost} parameters: give it a recordset`)
      }
      values = parameters.map(toParameter) as never[]
    } catch (error) {
      return Promise.reject(error)
    }
    const options = { prepare: prepare && values.length > 0 && this.#shouldPrepare(text) }
    const send = () => this.#sql.unsafe(text, values, options)
    return this.#await(this.#wasReady ? send() : this.ready.then(send))
  }

  #await(running: Promise<unknown>): Promise<Rows> {
    if (this.open === 0) this.movedAt = this.#parts.watch.tick
    this.open += 1
    return running.then(this.#answered, this.#failed)
  }

  #settled(): void {
    this.open -= 1
    this.movedAt = this.#parts.watch.tick
    if (this.open === 0) this.#drained()
  }

  readonly #answered = (answer: unknown): Rows => {
    this.#settled()
    const rows = answer as Rows
    const { string, name } = rows.statement ?? {}
    if (string !== undefined && name) this.#noteName(string, name)
    // Closed meanwhile: the answer may belong to another statement.
    if (this.#reason) throw this.#reason
    dropLeadingHoles(rows)
    // With several statements in one text, each has its own rows.
    if (Array.isArray(rows[0])) dropLeadingHoles(rows[0])
    return rows
  }

  readonly #failed = (error: unknown): never => {
    this.#settled()
    const isAnswer = error instanceof postgres.PostgresError
    // After its own error the library assigns later answers to the wrong statements.
    if (isAnswer ? preparedAgain.test(error.routine) : this.#wasReady) {
      this.leave(new ConnectionLost('The connection was lost', { cause: error }))
    }
    throw this.#reason ?? error
  }

  /**
   * If a table changed under a prepared statement the library prepares it again while others are in flight, and takes
   * the next one's answer for its own. Its new name reveals it.
   */
  #noteName(string: string, name: string): void {
    const known = this.#prepared.get(string)
    if (!known) this.#prepared.set(string, name)
    else if (known !== name) this.leave(new ConnectionLost('A table changed under a prepared statement'))
  }

  #shouldPrepare(text: string): boolean {
    if (this.#prepared.has(text)) return true
    if (!this.#parts.options.prepare || text.length > longestPrepared) return false
    if (this.#characters + text.length > charactersAtMost) {
      this.#isFull = true
      return false
    }
    this.#characters += text.length
    this.#prepared.set(text, '')
    return true
  }

  /** Closes it; its open statements fail with this reason. */
  leave(reason: Error = closed()): void {
    this.#reason ??= reason
    this.#drained()
    void this.close(0)
  }

  /** Waits up to so many seconds for open statements. The library's own wait would dial again for unsent ones. */
  async close(seconds: number): Promise<void> {
    this.isGone = true
    this.#parts.onGone()
    if (this.open > 0 && seconds > 0) {
      const drained = new Promise<void>((resolve) => {
        this.#drained = resolve
      })
      await Promise.race([drained, wait(seconds * 1000, undefined, { ref: false })])
    }
    this.#reason ??= closed()
    await this.#sql.end({ timeout: 0 })
    // The library sends a goodbye that the server may never read.
    this.#socket?.destroy()
  }
}

const closed = (): ConnectionLost => new ConnectionLost('The connection was closed')

/**
 * postgres.js 3.4.9 continues counting from the rows of a failed statement: the next one's rows begin with as many
 * holes (https://github.com/porsager/postgres/issues/1119, https://github.com/porsager/postgres/issues/1181).
 */
function dropLeadingHoles(rows: unknown[]): void {
  if (rows.length === 0 || 0 in rows) return
  let first = 1
  while (!(first in rows)) first += 1
  rows.splice(0, first)
}
