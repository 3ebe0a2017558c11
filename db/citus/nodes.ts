/** Checks which nodes of a cluster answer, and finds the stores on them, by queries on the coordinator. */

export type RunQuery = <Row>(text: string, parameters: readonly unknown[]) => Promise<readonly Row[]>

/** The nodes that are down or hang, as `host port`, and the stores on them. */
export interface UnreachableNodes {
  nodes: readonly string[]
  stores: ReadonlySet<string>
}

/** Finds the nodes that do not answer. This takes `nodeConnectMs` for each hanging node. */
export async function findUnreachableNodes(ask: RunQuery): Promise<UnreachableNodes> {
  const { silent } = await checkNodes(ask)
  return { nodes: silent, stores: new Set(silent.length === 0 ? [] : await findStoresOn(ask, silent)) }
}

export async function checkNodes(ask: RunQuery): Promise<{ answering: string[]; silent: string[] }> {
  // Only nodes that have shards of stores: a node that is being drained may still have some, a new one has none.
  const nodes = await ask<{ node: string; answers: boolean }>(
    `select nodename || ' ' || nodeport as node, citus_check_connection_to_node(nodename, nodeport) as answers
     from pg_dist_node where noderole = 'primary' and groupid in (
       select p.groupid from pg_dist_placement p join pg_dist_shard s on s.shardid = p.shardid
       where s.logicalrelid = 'stores'::regclass)`,
    [],
  )
  const by = Map.groupBy(nodes, ({ answers }) => answers)
  const named = (answers: boolean): string[] => (by.get(answers) ?? []).map(({ node }) => node)
  return { answering: named(true), silent: named(false) }
}

/** Finds the ids of the stores on these nodes. */
export async function findStoresOn(ask: RunQuery, nodes: readonly string[]): Promise<string[]> {
  // The coordinator has an entry with each store's public id.
  const stores = await ask<{ id: string }>(
    `select d.store_id as id from directory d
     join pg_dist_shard s on s.logicalrelid = 'stores'::regclass
       and worker_hash(d.store_id) between s.shardminvalue::integer and s.shardmaxvalue::integer
     join pg_dist_shard_placement p on p.shardid = s.shardid
     where d.kind = 'store-public-id' and p.nodename || ' ' || p.nodeport = any(string_to_array($1, ','))`,
    [nodes.join()],
  )
  return stores.map(({ id }) => id)
}
