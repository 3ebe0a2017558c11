/**
 * A pool of connections that one caller each uses until it gives it back. Waiting callers time out; no store and no
 * statement has more than half of it.
 */
import { NoConnectionFree } from '../deadlines.ts'
import type { Connection, Watch } from './connection.ts'
import type { Workload } from './sessions.ts'

export interface RoomParts {
  count: number
  open(): Connection
  watch: Watch
  /** In ticks. */
  patience: Record<Workload, number>
  /** After a failed connect, no new connection is opened for so many ticks: callers wait for existing ones. */
  restTicks: number
}

/** A store, or all jobs, for which a statement runs; null if everybody needs it. */
export type Owner = string | null

interface Use {
  workload: Workload
  owner: Owner
  /** The statement; absent for a transaction. */
  text?: string
}

interface Waiting extends PromiseWithResolvers<Connection> {
  use: Use
  since: number
}

export class Room {
  readonly #parts: RoomParts
  readonly #busy = new Map<Connection, Use>()
  readonly #idle: Connection[] = []
  #waiting: Waiting[] = []
  #opening = 0
  #openAgainAt = 0

  constructor(parts: RoomParts) {
    this.#parts = parts
  }

  take(use: Use): Promise<Connection> {
    const waiting = { use, since: this.#parts.watch.tick, ...Promise.withResolvers<Connection>() }
    this.#waiting.push(waiting)
    void this.#serve()
    return waiting.promise
  }

  give(connection: Connection): void {
    this.#busy.delete(connection)
    this.#idle.push(connection)
    void this.#serve()
  }

  has(connection: Connection): boolean {
    return this.#busy.has(connection) || this.#idle.includes(connection)
  }

  /** The number of connections, also of those that are being opened. */
  get size(): number {
    return this.#busy.size + this.#idle.length + this.#opening
  }

  get load(): { busy: number; waiting: number } {
    return { busy: this.#busy.size, waiting: this.#waiting.length }
  }

  refuseLate(): void {
    const { watch, patience } = this.#parts
    const { late = [], inTime = [] } = Object.groupBy(this.#waiting, ({ use, since }) =>
      watch.tick - since >= patience[use.workload] ? 'late' : 'inTime',
    )
    this.#waiting = inTime
    for (const each of late) each.reject(new NoConnectionFree())
  }

  /** Gives idle connections to waiting callers, and opens missing ones. */
  async #serve(): Promise<void> {
    const { open, watch, patience, restTicks } = this.#parts
    while (this.#waiting.length > 0) {
      if (this.#idle.length === 0 && !this.#mayOpen) return
      const next = this.#findNext()
      if (!next) return
      const idle = this.#findIdle()
      if (idle) {
        this.#waiting.splice(this.#waiting.indexOf(next), 1)
        idle.patience = patience[next.use.workload]
        this.#busy.set(idle, next.use)
        next.resolve(idle)
        continue
      }
      if (!this.#mayOpen) return
      const opened = open()
      this.#opening += 1
      try {
        await opened.ready
        this.#idle.push(opened)
      } catch (error) {
        this.#openAgainAt = watch.tick + restTicks
        // Without any connection, waiting callers could never be served.
        if (this.size === 1) for (const each of this.#waiting.splice(0)) each.reject(error)
        return
      } finally {
        this.#opening -= 1
      }
    }
  }

  get #mayOpen(): boolean {
    const { count, watch } = this.#parts
    return this.size < count && (this.size === 0 || watch.tick >= this.#openAgainAt)
  }

  /**
   * The first caller that may have a connection. An owner, and a text, have at most half of them, and all owners together
   * leave one. So whatever a blocked store or table holds, others go on.
   */
  #findNext(): Waiting | undefined {
    const { count } = this.#parts
    const half = Math.max(1, Math.floor(count / 2))
    const owners = new Map<Owner, number>()
    const texts = new Map<string, number>()
    let owned = 0
    for (const { owner, text } of this.#busy.values()) {
      if (owner !== null) owned += 1
      owners.set(owner, (owners.get(owner) ?? 0) + 1)
      if (text !== undefined) texts.set(text, (texts.get(text) ?? 0) + 1)
    }
    const mayOwn = owned < count - 1 || count === 1
    return this.#waiting.find(
      ({ use: { owner, text } }) =>
        (text === undefined || (texts.get(text) ?? 0) < half) &&
        (owner === null || (mayOwn && (owners.get(owner) ?? 0) < half)),
    )
  }

  /** Takes the most recently used idle connection. */
  #findIdle(): Connection | undefined {
    for (;;) {
      const found = this.#idle.pop()
      if (!found || (found.isLive && !found.isWorn)) return found
      found.leave()
    }
  }
}
