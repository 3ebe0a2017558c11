/** A room of connections: each is used by one caller until it is given back. */
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
    const { count, open, watch, patience, restTicks } = this.#parts
    for (;;) {
      const next = this.#waiting.find(({ use }) => this.#mayTake(use))
      if (!next) return
      const idle = this.#findIdle()
      if (idle) {
        this.#waiting.splice(this.#waiting.indexOf(next), 1)
        idle.patience = patience[next.use.workload]
        this.#busy.set(idle, next.use)
        next.resolve(idle)
        continue
      }
      if (this.size >= count || (this.size > 0 && watch.tick < this.#openAgainAt)) return
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

  /**
   * An owner, and a text, have at most half of the connections, and all owners together leave one. So whatever a blocked
   * store or table holds, others go on.
   */
  #mayTake({ owner, text }: Use): boolean {
    const { count } = this.#parts
    const half = Math.max(1, Math.floor(count / 2))
    let [ofOwner, ofText, owned] = [0, 0, 0]
    for (const each of this.#busy.values()) {
      if (each.owner !== null) owned += 1
      if (each.owner === owner) ofOwner += 1
      if (each.text === text) ofText += 1
    }
    if (text !== undefined && ofText >= half) return false
    return owner === null || (ofOwner < half && (owned < count - 1 || count === 1))
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
