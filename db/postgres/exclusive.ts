/** Connections for transactions: each is used by one caller until it is given back. */
import { DatabaseUnresponsive } from '../deadlines.ts'
import type { Connection, Watch } from './connection.ts'
import type { Workload } from './sessions.ts'

export interface ExclusiveParts {
  count: number
  open(): Connection
  watch: Watch
  /** In ticks. */
  patience: Record<Workload, number>
  /** After a failed connect, no new connection is opened for so many ticks: callers wait for existing ones. */
  restTicks: number
}

interface Waiting extends PromiseWithResolvers<Connection> {
  workload: Workload
  since: number
}

export class ExclusiveConnections {
  readonly #parts: ExclusiveParts
  readonly #all = new Set<Connection>()
  readonly #idle: Connection[] = []
  #waiting: Waiting[] = []
  #openAgainAt = 0

  constructor(parts: ExclusiveParts) {
    this.#parts = parts
  }

  take(workload: Workload = 'request'): Promise<Connection> {
    const waiting = { workload, since: this.#parts.watch.tick, ...Promise.withResolvers<Connection>() }
    this.#waiting.push(waiting)
    void this.#serve()
    return waiting.promise
  }

  give(connection: Connection): void {
    this.#idle.push(connection)
    void this.#serve()
  }

  has(connection: Connection): boolean {
    return this.#all.has(connection)
  }

  get load(): { busy: number; waiting: number } {
    return { busy: this.#all.size - this.#idle.length, waiting: this.#waiting.length }
  }

  refuseLate(): void {
    const { watch, patience } = this.#parts
    const { late = [], inTime = [] } = Object.groupBy(this.#waiting, ({ workload, since }) =>
      watch.tick - since >= patience[workload] ? 'late' : 'inTime',
    )
    this.#waiting = inTime
    for (const each of late)
      each.reject(new DatabaseUnresponsive('No connection to the database became free in time'))
  }

  /** Gives idle connections to waiting callers, and opens missing ones. */
  async #serve(): Promise<void> {
    const { count, open, watch, patience, restTicks } = this.#parts
    while (this.#waiting.length > 0) {
      const idle = this.#findIdle()
      if (idle) {
        const next = this.#waiting.shift()!
        idle.patience = patience[next.workload]
        next.resolve(idle)
        continue
      }
      const { size } = this.#all
      if (size >= count || (size > 0 && watch.tick < this.#openAgainAt)) return
      const opened = open()
      this.#all.add(opened)
      try {
        await opened.ready
        this.#idle.push(opened)
      } catch (error) {
        this.#all.delete(opened)
        this.#openAgainAt = watch.tick + restTicks
        // Without any connection, waiting callers could never be served.
        if (this.#all.size === 0) for (const each of this.#waiting.splice(0)) each.reject(error)
        return
      }
    }
  }

  /** Takes the most recently used idle connection. */
  #findIdle(): Connection | undefined {
    for (;;) {
      const found = this.#idle.pop()
      if (!found || (found.isLive && !found.isWorn)) return found
      this.#all.delete(found)
      found.leave()
    }
  }
}
