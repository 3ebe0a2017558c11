/** What `notifications-prune` does, over all stores. */
import { sql } from 'kysely'
import { amongStores } from '#db/directory/find'
import type { SystemContext } from '#runtime/context'
import { keptAtMost, keptSince } from './kept.ts'

const atOnce = 5000

/**
 * Deletes what is over 90 days old and what a store has beyond its newest 1,000, in batches. What somebody is marking
 * as read this moment is left for the next run, so that neither waits for the other.
 */
export async function pruneNotifications(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  for (const store of await parts(ctx)) {
    while ((await pruneSome(ctx, store)) > 0n) signal.throwIfAborted()
    signal.throwIfAborted()
  }
}

/** All stores together; on a cluster, which locks no rows of several shards in one statement, each by itself. */
async function parts(ctx: SystemContext): Promise<(string | null)[]> {
  if (!(await ctx.services.database.isDistributed())) return [null]
  const { rows } = await sql<{ store_id: string }>`
    select store_id from notifications group by store_id
    having count(*) > ${keptAtMost} or min(created_at) < ${keptSince(ctx.now())}`.execute(ctx.root)
  return rows.map((row) => row.store_id)
}

async function pruneSome(ctx: SystemContext, store: string | null): Promise<bigint> {
  const isOf = (column: string) => (store === null ? sql`true` : amongStores(column, [store]))
  // Of one store it is asked without `stores`: a cluster would bring the rows of a join to the coordinator and back.
  const [of, each] =
    store === null ? [sql.ref('s.id'), sql`stores s cross join lateral`] : [sql`${store}::uuid`, sql``]
  const { numAffectedRows } = await sql`
      with doomed as (
        select d.store_id, d.id from ${each} (
          (select n.store_id, n.id from notifications n
            where n.store_id = ${of} and n.created_at < ${keptSince(ctx.now())}
            order by n.created_at, n.id limit ${atOnce})
          union
          (select n.store_id, n.id from notifications n where n.store_id = ${of}
            order by n.created_at desc, n.id desc offset ${keptAtMost} limit ${atOnce})
        ) d limit ${atOnce}
      ), locked as (
        select n.store_id, n.id from notifications n join doomed d on d.store_id = n.store_id and d.id = n.id
        where ${isOf('n.store_id')}
        for update of n skip locked
      )
      delete from notifications n using locked l where n.store_id = l.store_id and n.id = l.id
        and ${isOf('n.store_id')}`.execute(ctx.root)
  return numAffectedRows ?? 0n
}
