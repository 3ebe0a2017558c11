/**
 * Connections to a PostgreSQL server, each with the statements that are on their way.
 *
 * A connection that says nothing for too long is destroyed with all that is on it, so that no late answer is ever taken
 * for another's. Nobody sets a timer for a statement: once in a while the pool looks which client has moved since.
 */
import { Socket } from 'node:net'
import postgres from 'postgres'
import { type Rows, Statement, type StatementOwner } from './statement.ts'

/** Counts turns of the pool's watch. A process that stood still itself has not waited: its turns stood still too. */
export interface Watch {
  turn: number
}

/** One instance of the library, with one connection at a time. */
interface Line {
  sql: postgres.Sql
  /** The library's own door for what is to be sent. */
  ask: (statement: Statement) => void
  socket: Socket | null
}

export interface ClientParts {
  url: string
  options: object
  watch: Watch
  /** Turns without an answer after which it is given up. */
  patience: number
  /** Another client for a statement that this one could not send, or null. */
  instead?: () => Client | null
  /** It became able to connect, or unable. */
  changed?: () => void
}

/** A client of one connection. Its statements run in the order they were asked. */
export class Client implements StatementOwner {
  /** Connections it has lost: the library opens the next by itself, where no transaction is open any more. */
  lost = 0
  /** Its connection has answered a statement. */
  live = false
  /** Its last try to connect came to nothing. */
  isFailing = false
  /** The turn of that. */
  failedAt = 0
  patience: number
  readonly #parts: ClientParts
  /** Statements that are not answered yet. */
  readonly #open = new Set<Statement>()
  /** The turn of the last answer, or of the first statement after a rest. */
  #movedAt = 0
  #line: Line
  #isClosed = false

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.patience = parts.patience
    this.#line = this.#openLine()
  }

  get open(): number {
    return this.#open.size
  }

  run(text: string, parameters: readonly unknown[], prepare = true): Promise<Rows> {
    return new Promise((resolve, reject) => {
      this.take(new Statement(this, text, parameters, prepare, resolve, reject))
    })
  }

  take(statement: Statement): void {
    if (this.#open.size === 0) this.#movedAt = this.#parts.watch.turn
    this.#open.add(statement)
    this.#line.ask(statement)
  }

  /** A statement is through; `heard` where it was answered. */
  ended(statement: Statement, heard: boolean): void {
    this.#open.delete(statement)
    this.#movedAt = this.#parts.watch.turn
    if (!heard || this.live) return
    this.live = true
    if (!this.isFailing) return
    this.isFailing = false
    this.#parts.changed?.()
  }

  /** Turns for which nothing was heard of what is open. */
  get silentFor(): number {
    return this.#open.size === 0 ? 0 : this.#parts.watch.turn - this.#movedAt
  }

  /** Gives the connection up, and fails what is on it; the next statement has a new one. */
  giveUp(reason: unknown): void {
    for (const statement of this.#leave()) statement.fail(reason)
  }

  /** There was no connection to send a statement on: all that waited for it go elsewhere, where there is one. */
  couldNotSend(statement: Statement, error: unknown): void {
    if (this.#isClosed) {
      statement.fail(error)
      return
    }
    // The first statement of a new connection hears why the server ended the one before.
    if (isServerEnding(error) && !statement.isSecondTry) {
      statement.goTo(this)
      return
    }
    for (const each of this.#leave()) {
      const other = each.isSecondTry ? null : (this.#parts.instead?.() ?? null)
      if (other) each.goTo(other)
      else each.fail(error)
    }
  }

  /** What was open, as nobody's any more. */
  #leave(): Statement[] {
    const statements = [...this.#open]
    this.#open.clear()
    if (this.#isClosed) return statements
    const line = this.#line
    this.lost += 1
    this.live = false
    this.failedAt = this.#parts.watch.turn
    this.#line = this.#openLine()
    void hangUp(line)
    if (!this.isFailing) {
      this.isFailing = true
      this.#parts.changed?.()
    }
    return statements
  }

  /** Lets what is open finish for a while. */
  async close(seconds = 2): Promise<void> {
    this.#isClosed = true
    this.live = false
    await hangUp(this.#line, seconds)
  }

  #openLine(): Line {
    const { url, options } = this.#parts
    let dials = 0
    const line = { socket: null } as Line
    // The socket is ours to destroy: the library only says goodbye, which nobody may hear.
    const socket = ({ host, port, path }: Address): Socket => {
      if (this.#line && this.#line !== line) throw new Error('The client was given up')
      const dialled = new Socket()
      const at = dials++ % host.length
      line.socket = dialled
      // In a microtask: the library listens by then, also for an address that fails at once.
      queueMicrotask(() => (path ? dialled.connect(path) : dialled.connect(port[at]!, host[at]!)))
      return Object.assign(dialled, path ? {} : { host: host[at], port: port[at] })
    }
    const onclose = (): void => {
      if (this.#line !== line) return
      this.lost += 1
      this.live = false
    }
    line.sql = postgres(url, { ...options, socket, onclose } as never)
    line.ask = (line.sql.unsafe('') as unknown as { handler: Line['ask'] }).handler
    return line
  }
}

interface Address {
  host: string[]
  port: number[]
  path?: string | false
}

/** Fails what is on the line after so many seconds. */
async function hangUp(line: Line, seconds = 0): Promise<void> {
  await line.sql.end({ timeout: seconds })
  line.socket?.destroy()
}

/**
 * Clients that single statements share. What is asked within one turn of the event loop goes to one of them while it
 * has little more to do than the idlest: the statements then leave in one write, which costs more than all else that a
 * small one needs here.
 */
export class SharedClients {
  readonly clients: readonly Client[]
  /** Those that can connect; all, where none can: whoever asks then hears why. */
  #able: readonly Client[]
  #last: Client

  constructor(count: number, open: (changed: () => void) => Client) {
    this.clients = Array.from({ length: count }, () => open(() => this.#sort()))
    this.#able = this.clients
    this.#last = this.clients[0]!
  }

  /** One that cannot connect fails at once, and so always has the least to do: it is left out. */
  choose(): Client {
    let idlest = this.#last
    for (const client of this.#able) if (client.open < idlest.open) idlest = client
    if (this.#last.open > idlest.open + aheadAtMost) this.#last = idlest
    return this.#last
  }

  /** One that has a connection, or null. */
  chooseLive(): Client | null {
    let idlest: Client | null = null
    for (const client of this.clients) {
      if (client.live && (!idlest || client.open < idlest.open)) idlest = client
    }
    return idlest
  }

  #sort(): void {
    const able = this.clients.filter((client) => !client.isFailing)
    this.#able = able.length > 0 ? able : this.clients
    if (!this.#able.includes(this.#last)) this.#last = this.#able[0]!
  }
}
const aheadAtMost = 2

/** `57P01` to `57P03`: shut down, crashed, starting. */
const isServerEnding = (error: unknown): boolean => /^57P0/.test(codeOf(error))
const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code)
