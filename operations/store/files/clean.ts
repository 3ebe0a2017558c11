/** What `files-clean` does, over all stores. */

import { sql } from 'kysely'
import { amongStores } from '#db/directory/find'
import type { SystemContext } from '#runtime/context'
import { leastKnown } from '#runtime/database/sql'
import { dayMs } from '#runtime/durations'

const unusedMs = dayMs
const atOnce = 100

/**
 * Deletes what is past its date, and what nothing has used for 24 hours. Whoever takes a use away sets the file's
 * `updated_at`: the 24 hours count from there. A file whose `expires_at` has passed must get no new use.
 */
export async function cleanFiles(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  for (const store of await parts(ctx)) {
    for (;;) {
      signal.throwIfAborted()
      const doomed = await claimDoomed(ctx, store)
      if (doomed === null) break
      for (const { key } of doomed) await ctx.adapters.storage.delete(key)
      await forget(ctx, doomed, store)
    }
  }
}

/** All stores together; on a cluster, which locks no rows of several shards in one statement, each by itself. */
async function parts(ctx: SystemContext): Promise<(string | null)[]> {
  if (!(await ctx.services.database.isDistributed())) return [null]
  const rows = await ctx.root.selectFrom('files').select('store_id').distinct().where(isDoomed(ctx)).execute()
  return rows.map((row) => row.store_id)
}

const isOf = (store: string | null, column = 'store_id') =>
  store === null ? sql<boolean>`true` : amongStores(column, [store])

function isDoomed(ctx: SystemContext, store: string | null = null) {
  const now = ctx.now()
  const unusedSince = new Date(now.getTime() - unusedMs)
  return sql<boolean>`(files.expires_at <= ${now} or (files.expires_at is null
    and files.updated_at <= ${unusedSince} and not exists (
      select 1 from file_uses u where u.store_id = files.store_id and u.file_id = files.id and ${isOf(store, 'u.store_id')})))`
}

interface Doomed {
  store_id: string
  id: string
  key: string
}

/**
 * Dates them back first, while their rows are locked: a use that was being added meanwhile is seen by the second
 * look, one that comes later finds an expired file. If this process dies now, the next run finds them by that date.
 * Null when there are no more.
 */
function claimDoomed(ctx: SystemContext, store: string | null): Promise<Doomed[] | null> {
  return ctx.root.transaction().execute(async (transaction) => {
    const locked = await transaction
      .selectFrom('files')
      .select(['store_id', 'id', 'key'])
      .where(isDoomed(ctx, store))
      .where(isOf(store))
      .orderBy('store_id')
      .orderBy('id')
      .limit(atOnce)
      .forUpdate()
      .skipLocked()
      .execute()
    if (locked.length === 0) return null
    return transaction
      .updateTable('files')
      .set({ expires_at: leastKnown<Date>(sql.ref('expires_at'), ctx.now()) })
      .where((eb) => eb.or(locked.map((row) => eb.and({ store_id: row.store_id, id: row.id }))))
      .where(isDoomed(ctx, store))
      .where(isOf(store))
      .returning(['store_id', 'id', 'key'])
      .execute()
  })
}

async function forget(ctx: SystemContext, files: Doomed[], store: string | null): Promise<void> {
  if (files.length === 0) return
  await ctx.root
    .deleteFrom('files')
    .where((eb) => eb.or(files.map((row) => eb.and({ store_id: row.store_id, id: row.id }))))
    .where(isOf(store))
    .where('expires_at', '<=', ctx.now())
    .execute()
}
