/**
 * Connections to a PostgreSQL server, each with the statements that are on their way.
 *
 * A connection that says nothing for too long is destroyed with all that is on it, so that no late answer is ever taken
 * for another's. Nobody sets a timer for a statement: once in a while the pool looks which client has moved since.
 */
import { ConnectionLost } from '../deadlines.ts'
import { Line, type Rows, Statement, type StatementOwner } from './door.ts'
import { PreparedTexts } from './prepared.ts'
import type { Way } from './sessions.ts'

/** Counts turns of the pool's watch. A process that stood still itself has not waited: its turns stood still too. */
export interface Watch {
  turn: number
}

export interface ClientParts {
  url: string
  options: { prepare: boolean }
  watch: Watch
  /** Turns without an answer after which it is given up. */
  patience: number
  /** What is asked one after the other belongs together: nothing of it goes on where the rest of it is lost. */
  isTogether?: boolean
  /** Another client for what this one could not send, or null. */
  instead?: () => Client | null
  /** It became able to connect, or unable. */
  changed?: () => void
}

/** A client of one connection. Its statements run in the order they were asked. */
export class Client implements StatementOwner {
  /** Connections it has lost: on the next no transaction is open any more. */
  lost = 0
  /** Its connection has answered a statement. */
  live = false
  /** Its last try to connect came to nothing. */
  isFailing = false
  /** The turn of that. */
  failedAt = 0
  /** Its connection is older than what is wrong behind it: it is to have another. */
  isSuspect = false
  patience: number
  /** What its connection is set to, where it is one for transactions; each begins as a request's. Null: nobody knows. */
  way: Way | null = 'request'
  /** The last change of it, which fails where the connection did not hear of it: what was asked since went another way. */
  changed: Promise<unknown> | null = null
  readonly #parts: ClientParts
  /** Null where nothing is prepared. */
  readonly #prepared: PreparedTexts | null
  /** Statements that are not answered yet. */
  readonly #open = new Set<Statement>()
  /** The turn of the last answer, or of the first statement after a rest. */
  #movedAt = 0
  #line: Line
  #isClosed = false

  constructor(parts: ClientParts) {
    this.#parts = parts
    this.patience = parts.patience
    this.#prepared = parts.options.prepare ? new PreparedTexts() : null
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

  /** What is asked from here on goes this way, which `change` tells the connection: if `changed` holds. */
  goBy(way: Way, change: string): void {
    this.changed = null
    if (way === this.way) return
    this.way = way
    if (!change) return
    this.changed = this.run(change, [])
    this.changed.catch(() => {
      this.isSuspect = true
    })
  }

  take(statement: Statement): void {
    if (this.#open.size === 0) this.#movedAt = this.#parts.watch.turn
    this.#open.add(statement)
    if (this.#prepared && statement.isKept && !this.#prepared.keeps(statement.text, statement.kinds)) {
      statement.keepNot()
    }
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

  /** It is to have another connection as soon as nothing is open on this one. */
  get isWorn(): boolean {
    return this.isSuspect || (this.#prepared?.isFull ?? false)
  }

  /** Turns for which nothing was heard of what is open. */
  get silentFor(): number {
    return this.#open.size === 0 ? 0 : this.#parts.watch.turn - this.#movedAt
  }

  /** Gives the connection up, and fails what is on it; the next statement has a new one. */
  giveUp(reason: unknown): void {
    for (const statement of this.#leave()) statement.fail(reason)
  }

  /** Has a new connection at its next statement; only where nothing is open. */
  renew(): void {
    this.#moveOn()
  }

  /** There was no connection to send a statement on: all that waited for it go elsewhere, where there is one. */
  couldNotSend(statement: Statement, error: unknown): void {
    if (this.#isClosed) {
      statement.fail(error)
      return
    }
    const statements = this.#leave()
    // One that is just starting, or ends those that are idle, may answer the next time.
    const other = isServerEnding(error) ? this : (this.#parts.instead?.() ?? null)
    for (const each of statements) {
      if (other && !each.isSecondTry) each.goTo(other, true)
      else each.fail(error)
    }
  }

  /** The connection is gone, and what was on it has failed. What it did not come to is asked on a new one. */
  #lose(): void {
    const unsent = this.#moveOn()
    for (const each of unsent) {
      if (this.#isClosed || this.#parts.isTogether) each.fail(new ConnectionLost('The connection was lost'))
      else each.goTo(this, each.isSecondTry)
    }
  }

  /** What was open, as nobody's any more, because no connection is to be had. */
  #leave(): Statement[] {
    const statements = this.#moveOn()
    if (this.#isClosed) return statements
    this.failedAt = this.#parts.watch.turn
    if (!this.isFailing) {
      this.isFailing = true
      this.#parts.changed?.()
    }
    return statements
  }

  /** To another connection, which is made at the next statement; answers what was open on the one before. */
  #moveOn(): Statement[] {
    const statements = [...this.#open]
    this.#open.clear()
    if (this.#isClosed) return statements
    const line = this.#line
    this.lost += 1
    this.live = false
    this.way = 'request'
    this.isSuspect = false
    this.#prepared?.clear()
    this.#line = this.#openLine()
    void line.giveUp()
    return statements
  }

  /** Lets what is open finish for a while. */
  async close(seconds = 2): Promise<void> {
    this.#isClosed = true
    this.live = false
    await this.#line.end(seconds)
  }

  #openLine(): Line {
    return new Line(this.#parts.url, this.#parts.options, () => this.#lose())
  }
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

  readonly #aheadAtMost: number

  /** `aheadAtMost`: by how many statements one may have more to do than the idlest and be chosen still. */
  constructor(count: number, open: (changed: () => void) => Client, aheadAtMost = 2) {
    this.#aheadAtMost = aheadAtMost
    this.clients = Array.from({ length: count }, () => open(() => this.#sort()))
    this.#able = this.clients
    this.#last = this.clients[0]!
  }

  /**
   * One that cannot connect fails at once, and so always has the least to do: it is left out. Nobody is put behind a
   * statement that takes seconds while another client answers.
   */
  choose(): Client {
    let idlest = this.#last
    let leastToDo = this.#toDo(idlest)
    const before = leastToDo
    for (const client of this.#able) {
      const toDo = this.#toDo(client)
      if (toDo >= leastToDo) continue
      idlest = client
      leastToDo = toDo
    }
    if (before > leastToDo + this.#aheadAtMost) this.#last = idlest
    return this.#last
  }

  #toDo(client: Client): number {
    return client.silentFor > 1 ? client.open + stuckCountsAs : client.open
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

/** More statements than a client ever has before it. */
const stuckCountsAs = 1_000_000

/** `57P01` to `57P03`: shut down, crashed, starting. */
const isServerEnding = (error: unknown): boolean => /^57P0/.test(codeOf(error))
const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code)
