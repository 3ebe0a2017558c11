/**
 * One connection to a PostgreSQL server: an instance of postgres.js that connects once. A connection that was lost, or
 * that says nothing for too long, is closed with all that was asked on it: no statement of a transaction is ever sent on
 * the next connection, and no late answer is taken for another's.
 */
import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { ConnectionLost } from '../deadlines.ts'
import { sendable } from './values.ts'

export type Rows = unknown[] & {
  count: number | null
  command: string | null
  /** Absent for a text of several statements. */
  statement?: { string: string; name: string }
}

/** Counts the pool's ticks. A process that stood still itself has not waited: its ticks stood still too. */
export interface Watch {
  tick: number
}

export interface ConnectionParts {
  url: string
  options: { prepare: boolean; connect_timeout: number } & Record<string, unknown>
  watch: Watch
  /** Ticks without an answer after which it is given up. */
  patience: number
  /** The tick after which another takes its place. */
  lastTick: number
  onGone(): void
}

/** PostgreSQL keeps a prepared statement with its plan: eighty bytes and more for each character, and lists have many texts. */
const charactersAtMost = 500_000
/** A longer text is of many rows, and hardly comes back. */
const longestPrepared = 50_000

const parametersAtMost = 65_533

/** Errors of a prepared statement after which the library prepares it again. */
const preparedAgain = /^(FetchPreparedStatement|RevalidateCachedQuery|transformAssignedExpr)$/

export class Connection {
  /** Statements without an answer yet. */
  open = 0
  patience: number
  /** Something behind it, such as a node of a cluster, is away: another takes its place. */
  isSuspect = false
  isGone = false
  /** Resolves once the connection can be used; rejects with the reason it cannot. */
  readonly ready: Promise<void>
  #wasReady = false
  #isFull = false
  /** Why it was left. */
  #reason: Error | null = null
  /** The tick of the last answer, or of the first statement after a rest. */
  movedAt = 0
  #socket: Socket | null = null
  /** Called once nothing is open any more. */
  #drained = (): void => {}
  readonly #sql: postgres.Sql
  readonly #parts: ConnectionParts
  /** By text, the name by which the library prepared it; '' until it was answered. */
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
      // Nobody awaits the library's own look at the types of arrays: a connection lost just then would end the process.
      fetch_types: false,
      onnotice: () => {},
      onclose: () => this.leave(new ConnectionLost('The connection was lost')),
      socket: ({ host, port, path }: { host: string[]; port: number[]; path: string | false }): Socket => {
        // Each host once: one that only hangs up would be dialled without end.
        if (this.isGone || this.#wasReady || dials === host.length) {
          this.leave(new ConnectionLost('The server hung up'))
        }
        if (this.#reason) throw this.#reason
        const socket = new Socket()
        const at = dials++ % host.length
        this.#socket = socket
        // Of several hosts the library reports no error. Here all of them were tried.
        if (dials === host.length) socket.once('error', (error) => this.#wasReady || this.leave(error))
        // At `connect_timeout` the library fails without trying the next one: a silent host has half of it.
        else setTimeout(() => this.#wasReady || socket.destroy(), parts.options.connect_timeout * 500).unref()
        // In a microtask: the library listens by then, also for an address that fails at once.
        queueMicrotask(() => (path ? socket.connect(path) : socket.connect(port[at]!, host[at]!)))
        return Object.assign(socket, path ? {} : { host: host[at], port: port[at] })
      },
    } as never)
    this.ready = this.#await(this.#sql.unsafe('select 1')).then(() => {
      this.#wasReady = true
    })
    this.ready.catch((error) => this.leave(error)) // each statement fails with it as well
  }

  /** It can be used, or could until it was lost: before, nothing was sent. */
  get wasReady(): boolean {
    return this.#wasReady
  }

  get isLive(): boolean {
    return this.#wasReady && !this.isGone
  }

  /** Another one is to take its place as soon as nobody uses it. */
  get isWorn(): boolean {
    return this.isSuspect || this.#isFull || this.#parts.watch.tick > this.#parts.lastTick
  }

  /** Ticks since the last answer, while one is awaited. */
  get silentFor(): number {
    return this.open === 0 ? 0 : this.#parts.watch.tick - this.movedAt
  }

  /** Statements are answered in the order in which they are asked. `prepare`: PostgreSQL keeps the text for the next time. */
  run(text: string, parameters: readonly unknown[], prepare = true): Promise<Rows> {
    if (this.isGone) return Promise.reject(this.#reason ?? closed())
    let values: never[]
    try {
      if (parameters.length > parametersAtMost) {
        throw new RangeError(`A statement takes at most ${parametersAtMost} parameters: give it a recordset`)
      }
      values = parameters.map(sendable) as never[]
    } catch (error) {
      return Promise.reject(error)
    }
    const options = { prepare: prepare && values.length > 0 && this.#keeps(text) }
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
    // Left meanwhile: whose answer it is nobody knows.
    if (this.#reason) throw this.#reason
    closeUp(rows)
    // Of several statements in one text each has rows of its own.
    if (Array.isArray(rows[0])) closeUp(rows[0])
    return rows
  }

  readonly #failed = (error: unknown): never => {
    this.#settled()
    const isAnswer = error instanceof postgres.PostgresError
    // After an error of its own the library assigns later answers to the wrong statements.
    if (isAnswer ? preparedAgain.test(error.routine) : this.#wasReady) {
      this.leave(new ConnectionLost('The connection was lost', { cause: error }))
    }
    throw this.#reason ?? error
  }

  /**
   * Where a table changed under a prepared statement the library prepares it again, amid others that are on their way, and
   * takes the answer of the next one for its own. Its new name shows it.
   */
  #noteName(string: string, name: string): void {
    const known = this.#prepared.get(string)
    if (!known) this.#prepared.set(string, name)
    else if (known !== name) this.leave(new ConnectionLost('A table changed under a prepared statement'))
  }

  #keeps(text: string): boolean {
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

  /** Fails what is open on it, with this reason. */
  leave(reason: Error = closed()): void {
    this.#reason ??= reason
    this.#drained()
    void this.close(0)
  }

  /**
   * Lets what is open finish for so many seconds. The library's own wait would dial again for what it has not sent yet.
   */
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
    // The library says goodbye, which nobody may hear.
    this.#socket?.destroy()
  }
}

const closed = (): ConnectionLost => new ConnectionLost('The connection was closed')

/**
 * postgres.js 3.4.9 counts on from the rows of a statement that failed: the next one's rows begin with as many empty
 * places (https://github.com/porsager/postgres/issues/1119, https://github.com/porsager/postgres/issues/1181).
 */
function closeUp(rows: unknown[]): void {
  if (rows.length === 0 || 0 in rows) return
  let first = 1
  while (!(first in rows)) first += 1
  rows.splice(0, first)
}
