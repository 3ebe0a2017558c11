/**
 * Whether the rows of stores lie on the workers of a cluster. There the directory is a table of the coordinator, and a view
 * anywhere else (`db/README.md`): whoever connects is told by that, once.
 */

type Ask = (text: string) => Promise<readonly { kind: string | null }[]>

const question = `select (select relkind::text from pg_class where oid = to_regclass('directory')) as kind`

export class Distribution {
  readonly #ask: Ask
  #known: boolean | null
  /** `known`: where nobody has to ask. */
  constructor(ask: Ask, known: boolean | null = null) {
    this.#ask = ask
    this.#known = known
  }

  /** Null until somebody has asked. */
  get known(): boolean | null {
    return this.#known
  }

  /**
   * `ask`: on which connection, where somebody holds one: waiting for another meanwhile, or for who waits for it, may be
   * for ever where a pooler has no more to lend.
   */
  isDistributed(ask = this.#ask): boolean | Promise<boolean> {
    return this.#known ?? this.#find(ask)
  }

  async #find(ask: Ask): Promise<boolean> {
    const [row] = await ask(question)
    const isDistributed = row?.kind === 'r'
    // A database that is not migrated yet may be either afterwards.
    if (row?.kind) this.#known = isDistributed
    return isDistributed
  }
}
