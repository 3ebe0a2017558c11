/**
 * Where a node of a cluster does not answer: what is done for all stores is done for those of the others. A statement over
 * all stores would wait for the one that is gone and fail; one that names its stores asks their shards alone.
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
import { aliasName, Confined, Confining, tableName } from '../confining.ts'
import type { Database, RootDatabase } from '../database.ts'
import { tenantColumn } from '../tables.ts'
import { type Ask, nodesBy, storesOn } from './nodes.ts'

/** Null where all nodes answer, or there is no cluster. */
export async function livingStores(database: Database): Promise<string[] | null> {
  if (!(await database.isDistributed())) return null
  const { awayStores } = database
  if (awayStores.size > 0) return (await allStores(database)).filter((id) => !awayStores.has(id))
  const ask: Ask = (text, parameters) => database.query(text, parameters)
  const { answering, silent } = await nodesBy(ask)
  return silent.length === 0 ? null : storesOn(ask, answering)
}

/** On the coordinator, where each store has a line by its public id. */
async function allStores(database: Database): Promise<string[]> {
  const stores = await database.query<{ id: string }>(
    `select store_id as id from directory where kind = 'store-public-id'`,
    [],
  )
  return stores.map(({ id }) => id)
}

/** The same, whose statements by the builder see these stores alone. */
export const among = (root: RootDatabase, stores: readonly string[]): RootDatabase =>
  root.withPlugin(new Confined(new AmongTransformer(stores)))

class AmongTransformer extends Confining {
  readonly #stores: OperationNode
  constructor(stores: readonly string[]) {
    super()
    this.#stores = RawNode.create(['any(', '::uuid[])'], [ValueNode.create(stores)])
  }

  protected condition(table: OperationNode): BinaryOperationNode | null {
    const name = isOfSchema(table) ? null : tableName(table)
    const column = name === null ? null : tenantColumn(name)
    if (name === null || column === null || column === 'system') return null
    const reference = ReferenceNode.create(
      ColumnNode.create(column),
      TableNode.create(aliasName(table) ?? name),
    )
    return BinaryOperationNode.create(reference, OperatorNode.create('='), this.#stores)
  }
}

function isOfSchema(node: OperationNode): boolean {
  if (node.kind === 'AliasNode') return isOfSchema((node as unknown as { node: OperationNode }).node)
  return node.kind === 'TableNode' && (node as TableNode).table.schema !== undefined
}
