/** Connections that single statements share: prepared statements pipeline on each of them. */
import type { Connection, Watch } from './connection.ts'

/** More statements than a connection ever has in flight. */
const stuckCountsAs = 1_000_000

export interface SharedParts {
  count: number
  open(): Connection
  watch: Watch
  /** How many more statements than the least busy connection one may have and still be chosen. */
  aheadAtMost: number
  /** Ticks for which a connection that failed to connect is not tried again while another works. */
  restTicks: number
}

/**
 * Statements of one turn of the event loop go to the same connection while it is little busier than the least busy
 * one: they then leave in one write, which costs more than everything else about a small statement.
 */
export class SharedConnections {
  /** Each is opened at its first statement, and again after it is gone. */
  readonly #connections: (Connection | null)[]
  readonly #parts: SharedParts
  #last = 0

  constructor(parts: SharedParts) {
    this.#parts = parts
    this.#connections = Array(parts.count).fill(null)
  }

  /** Avoids queueing behind a statement that takes seconds while another connection answers. */
  choose(): Connection {
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
    if (found && !found.isGone && !found.isWorn) return found
    const opened = this.#parts.open()
    this.#connections[this.#last] = opened
    return opened
  }

  /** A connection that can be used at once, or null. */
  chooseLive(): Connection | null {
    const live = this.#connections.filter((each) => each?.isLive)
    return live.reduce((idlest, each) => (idlest && idlest.open <= each!.open ? idlest : each), null)
  }

  #toDo(connection: Connection | null): number {
    if (!connection || connection.isWorn) return 0
    if (!connection.isGone) return connection.open + (connection.silentFor > 1 ? stuckCountsAs : 0)
    const { watch, restTicks } = this.#parts
    return connection.wasReady || watch.tick - connection.movedAt >= restTicks ? 0 : Number.POSITIVE_INFINITY
  }
}
