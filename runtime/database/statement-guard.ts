/** A Kysely plugin that counts the statements of a handler that may run only one. */
import type { KyselyPlugin, RootOperationNode } from 'kysely'

export class StatementGuard implements KyselyPlugin {
  readonly #count: () => void
  constructor(count: () => void) {
    this.#count = count
  }
  transformQuery({ node }: { node: RootOperationNode }): RootOperationNode {
    this.#count()
    return node
  }
  async transformResult<R>({ result }: { result: R }): Promise<R> {
    return result
  }
}
