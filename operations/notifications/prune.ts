/** What `notifications-prune` does, over all stores. */
import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import { keptAtMost, keptSince } from './kept.ts'

const atOnce = 5000

/**
 * Deletes what is over 90 days old and what a store has beyond its newest 1,000, in batches. What somebody is marking
 * as read this moment is left for the next run, so that neither waits for the other.
 */
export async function pruneNotifications(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const { numAffectedRows } = await sql`
      with doomed as (
        select d.store_id, d.id from stores s cross join lateral (
          (select n.store_id, n.id from notifications n
            where n.store_id = s.id and n.created_at < ${keptSince(ctx.now())}
            order by n.created_at, n.id limit ${atOnce})
          union
          (select n.store_id, n.id from notifications n where n.store_id = s.id
            order by n.created_at desc, n.id desc offset ${keptAtMost} limit ${atOnce})
        ) d limit ${atOnce}
      ), locked as (
        select n.store_id, n.id from notifications n join doomed d on d.store_id = n.store_id and d.id = n.id
        for update of n skip locked
      )
      delete from notifications n using locked l where n.store_id = l.store_id and n.id = l.id`.execute(
      ctx.root,
    )
    if ((numAffectedRows ?? 0n) === 0n) return
  }
}
