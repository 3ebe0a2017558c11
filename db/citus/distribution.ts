/**
 * Finds out whether the database is a Citus cluster with the rows of stores on its workers. On a cluster `directory` is
 * a table of the coordinator, otherwise it is a view (`db/README.md`). The result is cached.
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
   * `ask`: runs a query on the connection that the caller holds already. Waiting for a second connection could be a
   * deadlock if a pooler has none left.
   */
  isDistributed(ask = this.#ask): boolean | Promise<boolean> {
    return this.known ?? this.#find(ask)
  }

  async #find(ask: RunQuery): Promise<boolean> {
    const [row] = await ask(
      `select (select relkind::text from pg_class where oid = to_regclass('directory')) as kind`,
    )
    // Not cached for a database without migrations, which may become either.
    if (row?.kind) this.known = row.kind === 'r'
    return row?.kind === 'r'
  }
}
