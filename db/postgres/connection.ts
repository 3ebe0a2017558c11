/**
 * One connection to a PostgreSQL server: an instance of postgres.js that connects only once. If the connection is lost
 * or silent for too long, it is closed and all its open statements fail. So a statement of a transaction is never sent
 * on another connection, and a late answer is never assigned to the wrong statement.
 */
import { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import postgres from 'postgres'
import { ConnectionLost } from '../deadlines.ts'
import type { FileAddresses } from '../file-addresses.ts'
import { toParameter } from './values.ts'

export type Rows = unknown[] & {
  count: number | null
  command: string | null
  /** Absent for a text with several statements. */
  statement?: { string: string; name: string }
}

/** The number of ticks of the pool's timer. Unlike a clock, it does not advance while this process is suspended. */
export interface Watch {
  tick: number
}

export interface ConnectionParts {
  url: string
  options: { prepare: boolean; connect_timeout: number } & Record<string, unknown>
  watch: Watch
  fileAddresses: FileAddresses
  /** The number of ticks without an answer after which the connection is closed. */
  patience: number
  /** The tick after which the connection is replaced. */
  lastTick: number
  onGone(): void
  /** Called when a statement fails because the server's disk is full. */
  onDiskFull?(): void
}

/**
 * The most characters of prepared statements on a connection. PostgreSQL needs eighty bytes or more per character for a
 * statement with its plan, and lists have many texts.
 */
const charactersAtMost = 500_000
/** The longest text that is prepared. A longer one contains many rows, and is hardly ever repeated. */
const longestPrepared = 50_000

const parametersAtMost = 65_533

/** The PostgreSQL routines whose errors make the library prepare a statement again. */
const preparedAgain = /^(FetchPreparedStatement|RevalidateCachedQuery|transformAssignedExpr)$/

/** The address asks for TLS, and the server refuses it. */
class NoTls extends Error {
  override message = 'The server has no TLS'
  code = 'NO_TLS'
}

const diskFull = '53100'

/** A read waits behind a slow statement of its connection: it can be sent on another one. */
export class HeldUp extends Error {
  override name = 'HeldUp'
}

export class Connection {
  /** Statements without an answer yet. */
  open = 0
  patience: number
  /** Set if a node of the cluster behind the connection is unreachable: the connection will be replaced. */
  isSuspect = false
  isGone = false
  /** Resolves once the connection can be used; rejects with the reason it cannot. */
  readonly ready: Promise<void>
  #wasReady = false
  #isFull = false
  /** Why the connection was closed. */
  #reason: Error | null = null
  /** The tick of the last answer, or of the first statement after an idle time. */
  movedAt = 0
  #socket: Socket | null = null
  /** Called once no statement is open. */
  #drained = (): void => {}
  /** Rejects each statement of `share` without an answer, in the order of sending. */
  readonly #sharing = new Set<(reason: unknown) => void>()
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
      max_lifetime: null, // a statement that is sent at the end of the lifetime would fail
      // Off, since nobody awaits the library's query for array types: if it failed, the process would end.
      fetch_types: false,
      onnotice: () => {},
      onclose: () => this.leave(new ConnectionLost('The connection was lost')),
      socket: ({ host, port, path }: { host: string[]; port: number[]; path: string | false }): Socket => {
        // Each host is tried once: otherwise the library would retry forever if a server closes each connection.
        if (this.isGone || this.#wasReady || dials === host.length) {
          this.leave(new ConnectionLost('The server hung up'))
        }
        if (this.#reason) throw this.#reason
        const socket = new Socket()
        const at = dials++ % host.length
        this.#socket = socket
        // This is the last host. The library reports no error if there are several, so this does.
        if (dials === host.length) socket.once('error', (error) => this.#wasReady || this.leave(error))
        // The library does not try the next host after `connect_timeout`, so a silent host gets only half of that time.
        else setTimeout(() => this.#wasReady || socket.destroy(), parts.options.connect_timeout * 500).unref()
        // The driver would speak TLS to a server that has just refused it, and see the connection closed.
        const { ssl } = parts.options
        if (ssl && ssl !== 'prefer') {
          socket.once('data', (bytes) => bytes.toString() === 'N' && this.leave(new NoTls()))
        }
        // In a microtask, so that the library has attached its listeners before an address fails at once.
        queueMicrotask(() => (path ? socket.connect(path) : socket.connect(port[at]!, host[at]!)))
        return Object.assign(socket, path ? {} : { host: host[at], port: port[at] })
      },
    } as never)
    this.ready = this.#await(this.#sql.unsafe('select 1')).then(() => {
      this.#wasReady = true
    })
    this.ready.catch((error) => this.leave(error)) // all statements fail with this error
  }

  /** Whether the connection was ever established. If not, no statement was sent. */
  get wasReady(): boolean {
    return this.#wasReady
  }

  get isLive(): boolean {
    return this.#wasReady && !this.isGone
  }

  /** Whether the connection should be replaced as soon as it is idle. */
  get isWorn(): boolean {
    return this.isSuspect || this.#isFull || this.#parts.watch.tick > this.#parts.lastTick
  }

  /** The number of ticks since the last answer; 0 while no statement is open. */
  get silentFor(): number {
    return this.open === 0 ? 0 : this.#parts.watch.tick - this.movedAt
  }

  /** Whether a statement takes so long that no other should wait behind it. */
  get isStuck(): boolean {
    return this.silentFor > 1
  }

  /** Runs a statement; answers arrive in the order of sending. `prepare`: whether PostgreSQL keeps the statement. */
  run(text: string, parameters: readonly unknown[], prepare = true): Promise<Rows> {
    if (this.isGone) return Promise.reject(this.#reason ?? closed())
    let values: never[]
    try {
      if (parameters.length > parametersAtMost) {
        throw new RangeError(`A statement takes at most ${parametersAtMost} parameters: give it a recordset`)
      }
      values = parameters.map((each) => this.#parts.fileAddresses.parameter(toParameter(each))) as never[]
    } catch (error) {
      return Promise.reject(error)
    }
    const options = { prepare: prepare && values.length > 0 && this.#shouldPrepare(text) }
    const send = () => this.#sql.unsafe(text, values, options)
    return this.#await(this.#wasReady ? send() : this.ready.then(send))
  }

  /** Runs a read that others may precede; `releaseHeldUp` may fail it. */
  share(send: (to: Connection) => Promise<Rows>): Promise<Rows> {
    return new Promise((resolve, reject) => {
      this.#sharing.add(reject)
      const settle =
        <T>(by: (value: T) => void) =>
        (value: T) => {
          this.#sharing.delete(reject)
          by(value)
        }
      send(this).then(settle(resolve), settle(reject))
    })
  }

  /** Fails the reads behind the first one with `HeldUp`. They cannot be called back: their answers will be dropped. */
  releaseHeldUp(): void {
    const [, ...behind] = this.#sharing
    for (const reject of behind) reject(new HeldUp('A slow statement of its connection precedes it'))
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
    // The connection was closed meanwhile, so the answer may belong to another statement.
    if (this.#reason) throw this.#reason
    dropLeadingHoles(rows)
    // With several statements in one text, each has its own rows.
    if (Array.isArray(rows[0])) dropLeadingHoles(rows[0])
    return rows
  }

  readonly #failed = (error: unknown): never => {
    this.#settled()
    const isAnswer = error instanceof postgres.PostgresError
    // After an error of its own, the library assigns later answers to the wrong statements.
    if (isAnswer && error.code === diskFull) this.#parts.onDiskFull?.()
    if (isAnswer ? preparedAgain.test(error.routine) : this.#wasReady) {
      this.leave(new ConnectionLost('The connection was lost', { cause: error }))
    }
    throw this.#reason ?? error
  }

  /**
   * Closes the connection if a statement was prepared again, which a new name shows. The library does that if a table
   * has changed, while other statements are in flight, and then mixes up their answers.
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

  /** Closes the connection; its open statements fail with this reason. */
  leave(reason: Error = closed()): void {
    this.#reason ??= reason
    this.#drained()
    void this.close(0)
  }

  /**
   * Closes the connection after waiting up to `seconds` for open statements. The library's own wait would reconnect.
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
    // Destroyed, since the library waits until the server has read its termination message.
    this.#socket?.destroy()
  }
}

const closed = (): ConnectionLost => new ConnectionLost('The connection was closed')

/**
 * Removes empty elements at the beginning of rows. After a statement that failed midway, postgres.js 3.4.9 does not
 * reset its row counter, so the next statement's rows begin with that many holes
 * (https://github.com/porsager/postgres/issues/1119, https://github.com/porsager/postgres/issues/1181).
 */
function dropLeadingHoles(rows: unknown[]): void {
  if (rows.length === 0 || 0 in rows) return
  let first = 1
  while (!(first in rows)) first += 1
  rows.splice(0, first)
}
