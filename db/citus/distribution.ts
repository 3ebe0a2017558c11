/**
 * Whether the database is a Citus cluster, with the rows of stores on its workers. There `directory` is a table of the
 * coordinator, otherwise a view (`db/README.md`): checked once.
 */
type RunQuery = (text: string) => Promise<readonly { kind: string | null }[]>

export class Distribution {
  readonly #ask: RunQuery
  /** Null until it was checked. */
  known: boolean | null
  constructor(ask: RunQuery, known: boolean | null) {
    this.#ask = ask
    this.known = known
  }

  /**
   * `ask`: runs on the connection that the caller holds. Waiting for another one could be a deadlock: a pooler may
   * have none left.
   */
  isDistributed(ask = this.#ask): boolean | Promise<boolean> {
    return this.known ?? this.#find(ask)
  }

  async #find(ask: RunQuery): Promise<boolean> {
    const [row] = await ask(
      `select (select relkind::text from pg_class where oid = to_regclass('directory')) as kind`,
    )
    // A database without migrations may become either.
    if (row?.kind) this.known = row.kind === 'r'
    return row?.kind === 'r'
  }
}
