/**
 * Where a node of a cluster is gone: what is done for all stores is done for those of the others. A statement over all
 * stores would wait for the one that is gone and fail; one that names its stores asks their shards alone.
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

/** Null where all nodes answer, or there is no cluster. */
export async function livingStores(database: Database): Promise<string[] | null> {
  if (!(await database.isDistributed())) return null
  // Those that have stores: one that is being emptied still does, one that was just added does not.
  const nodes = await database.query<{ name: string; port: number; answers: boolean }>(
    `select nodename as name, nodeport as port, citus_check_connection_to_node(nodename, nodeport) as answers
     from pg_dist_node where noderole = 'primary' and groupid in (
       select p.groupid from pg_dist_placement p join pg_dist_shard s on s.shardid = p.shardid
       where s.logicalrelid = 'stores'::regclass)`,
    [],
  )
  if (nodes.every(({ answers }) => answers)) return null
  const living = nodes.filter(({ answers }) => answers).map(({ name, port }) => `${name} ${port}`)
  // Each store has a line by its public id, on the coordinator.
  const stores = await database.query<{ id: string }>(
    `select d.store_id as id from directory d
     join pg_dist_shard s on s.logicalrelid = 'stores'::regclass
       and worker_hash(d.store_id) between s.shardminvalue::integer and s.shardmaxvalue::integer
     join pg_dist_shard_placement p on p.shardid = s.shardid
     where d.kind = 'store-public-id' and p.nodename || ' ' || p.nodeport = any($1::text[])`,
    [living],
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
