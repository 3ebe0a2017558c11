/** Which nodes of a cluster answer, and whose rows lie on them. Asked of the coordinator. */

export type Ask = <Row>(text: string, parameters: readonly unknown[]) => Promise<readonly Row[]>

/** Nodes that do not answer, as `host port`, and the stores that they have: what is gone, and what hangs. */
export interface Away {
  nodes: readonly string[]
  stores: ReadonlySet<string>
}

/** Each node that hangs costs `nodeConnectMs`. */
export async function awayOf(ask: Ask): Promise<Away> {
  const { silent } = await nodesBy(ask)
  return { nodes: silent, stores: new Set(silent.length === 0 ? [] : await storesOn(ask, silent)) }
}

export async function nodesBy(ask: Ask): Promise<{ answering: string[]; silent: string[] }> {
  // Those that have stores: one that is being emptied still does, one that was just added does not.
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

/** By id. */
export async function storesOn(ask: Ask, nodes: readonly string[]): Promise<string[]> {
  // Each store has a line by its public id, on the coordinator.
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
