/**
 * Queries over all stores while a node of a cluster is down: they are limited to stores on healthy nodes. A statement
 * over all stores would wait for the missing node and fail; one that names its stores only queries their shards.
 */
import {
  BinaryOperationNode,
  ColumnNode,
  type OperationNode,
  OperatorNode,
  RawNode,
  ReferenceNode,
  TableNode,
  ValueNode,
} from 'kysely'
import type { Database, RootDatabase } from '../database.ts'
import { aliasName, ScopePlugin, ScopeTransformer, tableName } from '../scoping.ts'
import { tenantColumn } from '../tables.ts'
import { checkNodes, findStoresOn, type RunQuery } from './nodes.ts'

/** Finds the stores on nodes that answer; null if all nodes answer, or if there is no cluster. */
export async function findStoresOnHealthyNodes(database: Database): Promise<string[] | null> {
  if (!(await database.isDistributed())) return null
  const { unreachableStores } = database
  if (unreachableStores.size > 0)
    return (await findAllStores(database)).filter((id) => !unreachableStores.has(id))
  const ask: RunQuery = (text, parameters) => database.query(text, parameters)
  const { answering, silent } = await checkNodes(ask)
  return silent.length === 0 ? null : findStoresOn(ask, answering)
}

/** Reads all stores from the lookup index on the coordinator, which has an entry for each store's public id. */
async function findAllStores(database: Database): Promise<string[]> {
  const stores = await database.query<{ id: string }>(
    `select store_id as id from directory where kind = 'store-public-id'`,
    [],
  )
  return stores.map(({ id }) => id)
}

/** Returns the same database, limited to these stores for statements of the query builder. */
export const scopeToStores = (root: RootDatabase, stores: readonly string[]): RootDatabase =>
  root.withPlugin(new ScopePlugin(new StoresScopeTransformer(stores)))

class StoresScopeTransformer extends ScopeTransformer {
  readonly #stores: OperationNode
  constructor(stores: readonly string[]) {
    super()
    this.#stores = RawNode.create(['any(', '::uuid[])'], [ValueNode.create(stores)])
  }

  protected condition(table: OperationNode): BinaryOperationNode | null {
    const name = hasSchema(table) ? null : tableName(table)
    const column = name === null ? null : tenantColumn(name)
    if (name === null || column === null || column === 'system') return null
    const reference = ReferenceNode.create(
      ColumnNode.create(column),
      TableNode.create(aliasName(table) ?? name),
    )
    return BinaryOperationNode.create(reference, OperatorNode.create('='), this.#stores)
  }
}

function hasSchema(node: OperationNode): boolean {
  if (node.kind === 'AliasNode') return hasSchema((node as unknown as { node: OperationNode }).node)
  return node.kind === 'TableNode' && (node as TableNode).table.schema !== undefined
}
