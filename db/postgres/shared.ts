/** Connections that reads share by pipelining. */
import type { Connection, Watch } from './connection.ts'

/** A silent connection counts as having so many more statements in flight: more than any other connection has. */
const stuckCountsAs = 1_000_000

export interface SharedParts {
  count: number
  open(): Connection
  watch: Watch
  /** A connection is still chosen if it has at most so many more statements than the least busy one. */
  aheadAtMost: number
  /** For so many ticks, a connection that failed to connect is not tried again while another one works. */
  restTicks: number
}

/**
 * Statements of one turn of the event loop go to the same connection, unless it is much busier than the least busy one.
 * So they are sent by one write to the socket, which is the largest cost of a small statement.
 */
export class SharedConnections {
  /** Each connection is opened at its first statement, and opened again after it was lost. */
  readonly #connections: (Connection | null)[]
  readonly #parts: SharedParts
  #last = 0

  constructor(parts: SharedParts) {
    this.#parts = parts
    this.#connections = Array(parts.count).fill(null)
  }

  /** Chooses a connection; null if all of them are busy with a slow statement. */
  choose(): Connection | null {
    const before = this.#toDo(this.#connections[this.#last]!)
    let idlest = this.#last
    let least = before
    for (let at = 0; at < this.#connections.length; at += 1) {
      const toDo = this.#toDo(this.#connections[at]!)
      if (toDo >= least) continue
      idlest = at
      least = toDo
    }
    if (before > least + this.#parts.aheadAtMost) this.#last = idlest
    const found = this.#connections[this.#last]
    if (found && !found.isGone && !found.isWorn) return found.isStuck && found.isLive ? null : found
    const opened = this.#parts.open()
    this.#connections[this.#last] = opened
    return opened
  }

  /** Chooses the least busy connection that is established; null if there is none. */
  chooseLive(): Connection | null {
    const live = this.#connections.filter((each) => each?.isLive)
    return live.reduce((idlest, each) => (idlest && idlest.open <= each!.open ? idlest : each), null)
  }

  #toDo(connection: Connection | null): number {
    if (!connection || connection.isWorn) return 0
    if (!connection.isGone) return connection.open + (connection.isStuck ? stuckCountsAs : 0)
    const { watch, restTicks } = this.#parts
    return connection.wasReady || watch.tick - connection.movedAt >= restTicks ? 0 : Number.POSITIVE_INFINITY
  }
}
