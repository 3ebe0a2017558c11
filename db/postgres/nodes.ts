/** Looks which nodes of a cluster answer, while somebody hears nothing of the database. */
import { type Away, awayOf } from '../citus/nodes.ts'
import type { Client } from './client.ts'

export interface NodesParts {
  /** So many turns of the pool's watch from one look to the next. */
  everyTurns: number
  /** A connection that nobody has used. */
  open(): Client
  /** Has all other connections made anew. */
  suspectAll(): void
}

/**
 * Of a node that hangs a backend of the coordinator hears nothing for ever, and cannot even be cancelled; one that has no
 * connection to it yet gives up within `nodeConnectMs`. So all our connections are made anew, once for each node that
 * hangs, and what was asked of the node's stores has failed as it does where the node is gone.
 */
export class Nodes {
  /** As of the last look. */
  away: Away = { nodes: [], stores: new Set() }
  /** On which it asks. */
  witness: Client | null = null
  #askedAt = 0
  readonly #parts: NodesParts

  constructor(parts: NodesParts) {
    this.#parts = parts
  }

  /** `isSlow`: a statement has been open for long. Goes on until all answer. */
  look(turn: number, isSlow: boolean): void {
    if (this.witness || (!isSlow && this.away.nodes.length === 0)) return
    if (turn - this.#askedAt < this.#parts.everyTurns) return
    this.#askedAt = turn
    void this.#ask()
  }

  async #ask(): Promise<void> {
    const witness = this.#parts.open()
    this.witness = witness
    try {
      const away = await awayOf(
        async <Row>(text: string, parameters: readonly unknown[]) =>
          (await witness.run(text, parameters)) as Row[],
      )
      const isNew = away.nodes.some((node) => !this.away.nodes.includes(node))
      this.away = away
      if (isNew) this.#parts.suspectAll()
    } catch {
      // The coordinator itself does not answer: that is the pool's to find.
    } finally {
      this.witness = null
      void witness.close(0)
    }
  }
}
