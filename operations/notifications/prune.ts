/** The work of the job `notifications-prune`, for all stores. */
import { sql } from 'kysely'
import { isInStores } from '#db/lookup-index/find'
import type { SystemContext } from '#runtime/context'
import { retentionLimit, retentionStart } from './visibility.ts'

const batchSize = 5000

/**
 * Deletes notifications over 90 days old and beyond the newest 1,000 of a store, in batches. Skips locked rows, which are
 * being marked as read; the next run deletes them.
 */
export async function pruneNotifications(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  for (const store of await findScopes(ctx)) {
    while ((await pruneBatch(ctx, store)) > 0n) signal.throwIfAborted()
    signal.throwIfAborted()
  }
}

/**
 * Returns the scopes to prune: null means all stores together. On a cluster, each store is a scope, because one statement
 * cannot lock rows of several shards.
 */
async function findScopes(ctx: SystemContext): Promise<(string | null)[]> {
  if (!(await ctx.services.database.isDistributed())) return [null]
  const { rows } = await sql<{ store_id: string }>`
    select store_id from notifications group by store_id
    having count(*) > ${retentionLimit} or min(created_at) < ${retentionStart(ctx.now())}`.execute(ctx.root)
  return rows.map((row) => row.store_id)
}

async function pruneBatch(ctx: SystemContext, store: string | null): Promise<bigint> {
  const isInScope = (column: string) => (store === null ? sql`true` : isInStores(column, [store]))
  // For one store the query omits `stores`: on a cluster the join would move rows to the coordinator and back.
  const [of, each] =
    store === null ? [sql.ref('s.id'), sql`stores s cross join lateral`] : [sql`${store}::uuid`, sql``]
  const { numAffectedRows } = await sql`
      with doomed as (
        select d.store_id, d.id from ${each} (
          (select n.store_id, n.id from notifications n
            where n.store_id = ${of} and n.created_at < ${retentionStart(ctx.now())}
            order by n.created_at, n.id limit ${batchSize})
          union
          (select n.store_id, n.id from notifications n where n.store_id = ${of}
            order by n.created_at desc, n.id desc offset ${retentionLimit} limit ${batchSize})
        ) d limit ${batchSize}
      ), locked as (
        select n.store_id, n.id from notifications n join doomed d on d.store_id = n.store_id and d.id = n.id
        where ${isInScope('n.store_id')}
        for update of n skip locked
      )
      delete from notifications n using locked l where n.store_id = l.store_id and n.id = l.id
        and ${isInScope('n.store_id')}`.execute(ctx.root)
  return numAffectedRows ?? 0n
}
