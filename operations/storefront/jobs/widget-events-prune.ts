import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { serverJob } from '#runtime/job'
import { handle } from '#runtime/jobs/handle'
import { object } from '#runtime/schema'

const keptDays = 35
const atOnce = 10_000

export default serverJob(handle('widget-events-prune', object({})), {
  description: 'Deletes storefront events older than 35 days; the daily counters stay.',
  retry: { limit: 2, backoffSeconds: 60 },
  timeoutSeconds: 1800,
  everySeconds: 86_400,
  safeTwice: 'Deletes by age.',
  async run(ctx, _payload, { signal }) {
    const before = new Date(ctx.clock.ms() - keptDays * dayMs)
    if (await ctx.services.database.isDistributed()) return pruneOnCluster(ctx, before, signal)
    for (let deleted = atOnce; deleted === atOnce; ) {
      signal.throwIfAborted()
      const { numAffectedRows } = await sql`
        delete from storefront_events where ctid = any(array(
          select ctid from storefront_events where happened_at < ${before}::timestamptz
          limit ${sql.lit(atOnce)}))`.execute(ctx.root)
      deleted = Number(numAffectedRows ?? 0)
    }
  },
})

/**
 * Deletes store by store, because on a cluster a `delete` with a limit cannot span shards. Each run deletes one more day of
 * events.
 */
async function pruneOnCluster(ctx: SystemContext, before: Date, signal: AbortSignal): Promise<void> {
  const stores = await ctx.root
    .selectFrom('storefront_events')
    .select('store_id')
    .distinct()
    .where('happened_at', '<', before)
    .execute()
  for (const { store_id } of stores) {
    signal.throwIfAborted()
    await ctx.root
      .deleteFrom('storefront_events')
      .where('store_id', '=', store_id)
      .where('happened_at', '<', before)
      .execute()
  }
}
