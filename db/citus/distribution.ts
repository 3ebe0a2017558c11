/**
 * Whether the database is a Citus cluster, with the rows of stores on its workers. There `directory` is a table of the
 * coordinator, and a view anywhere else (`db/README.md`): this is asked once.
 */
type Ask = (text: string) => Promise<readonly { kind: string | null }[]>

export class Distribution {
  readonly #ask: Ask
  /** Null until it has been asked. */
  known: boolean | null
  constructor(ask: Ask, known: boolean | null) {
    this.#ask = ask
    this.known = known
  }

  /**
   * `ask`: on the connection that the caller holds. To wait for another one meanwhile may be for ever: a pooler may have
   * no more to lend.
   */
  isDistributed(ask = this.#ask): boolean | Promise<boolean> {
    return this.known ?? this.#find(ask)
  }

  async #find(ask: Ask): Promise<boolean> {
    const [row] = await ask(
      `select (select relkind::text from pg_class where oid = to_regclass('directory')) as kind`,
    )
    // A database that is not migrated yet may be either afterwards.
    if (row?.kind) this.known = row.kind === 'r'
    return row?.kind === 'r'
  }
}
