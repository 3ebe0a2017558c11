/** How the stores of a cluster lie on its shards and nodes, and the largest one on a node of its own. */
import type { Database } from '#db/database'

export interface Balance {
  shards: number
  /** Of all that are colocated: MiB of the fullest beside the mean. */
  fullestShardMiB: number
  meanShardMiB: number
  /** MiB of each worker. */
  nodesMiB: number[]
  /** Of the largest store: milliseconds to give it shards of its own, and to move those to another node. */
  isolateMs?: number
  moveMs?: number
}

const mebibyte = 1024 * 1024

export async function balanceOf(database: Database): Promise<Balance> {
  const shards = await database.query<{ node: number; size: number }>(
    `select s.nodeport as node, sum(s.shard_size)::bigint as size
     from citus_shards s join pg_dist_shard p on p.shardid = s.shardid
     where s.citus_table_type = 'distributed' and p.shardminvalue is not null
     group by s.nodeport, p.shardminvalue`,
    [],
  )
  const sizes = shards.map(({ size }) => size / mebibyte)
  const nodes = [...new Set(shards.map(({ node }) => node))]
  const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0)
  return {
    shards: shards.length,
    fullestShardMiB: Math.max(...sizes),
    meanShardMiB: sum(sizes) / sizes.length,
    nodesMiB: nodes.map((node) => sum(shards.filter((s) => s.node === node).map((s) => s.size / mebibyte))),
  }
}

/** The store with the most contacts. */
export async function isolate(database: Database): Promise<Pick<Balance, 'isolateMs' | 'moveMs'>> {
  const [largest] = await database.query<{ store_id: string }>(
    'select store_id from contact_lists group by store_id order by sum(size) desc limit 1',
    [],
  )
  const store = largest!.store_id
  const beganAt = performance.now()
  // Of `stores`, and so of all tables that lie with it. By copying: a table's key is not what logical replication asks for.
  const [made] = await database.query<{ shard: number }>(
    `select isolate_tenant_to_new_shard('stores', $1::text, 'CASCADE', shard_transfer_mode => 'block_writes') as shard`,
    [store],
  )
  const isolatedAt = performance.now()
  await database.query(
    `select citus_move_shard_placement($1, here.nodename, here.nodeport, other.nodename, other.nodeport, 'block_writes')
     from citus_shards here
     join pg_dist_node other on other.shouldhaveshards and other.nodeport <> here.nodeport
     where here.shardid = $1 order by other.nodeport limit 1`,
    [made!.shard],
  )
  return { isolateMs: isolatedAt - beganAt, moveMs: performance.now() - isolatedAt }
}
