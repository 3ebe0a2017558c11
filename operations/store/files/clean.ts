/** Deletes expired and unused files of all stores, for the job `files-clean`. */

import { sql } from 'kysely'
import { isInStores } from '#db/lookup-index/find'
import type { SystemContext } from '#runtime/context'
import { leastKnown } from '#runtime/database/sql'
import { dayMs } from '#runtime/durations'

const unusedMs = dayMs
const batchSize = 100

/**
 * Deletes files that have expired, and files unused for 24 hours. The 24 hours count from `updated_at`, which is set when
 * a use is removed. No code may add a use to an expired file, because the file may be deleted at any time.
 */
export async function cleanFiles(ctx: SystemContext, signal: AbortSignal): Promise<void> {
  for (const store of await findScopes(ctx)) {
    for (;;) {
      signal.throwIfAborted()
      const files = await claimDeletable(ctx, store)
      if (files === null) break
      for (const { key } of files) await ctx.adapters.storage.delete(key)
      await deleteRows(ctx, files, store)
    }
  }
}

/**
 * Which stores to clean per statement: `[null]` means all together. On a cluster it lists the stores, to be cleaned one by
 * one, because a cluster cannot lock rows of several shards in one statement.
 */
async function findScopes(ctx: SystemContext): Promise<(string | null)[]> {
  if (!(await ctx.services.database.isDistributed())) return [null]
  const rows = await ctx.root
    .selectFrom('files')
    .select('store_id')
    .distinct()
    .where(isDeletable(ctx))
    .execute()
  return rows.map((row) => row.store_id)
}

const inStore = (store: string | null, column = 'store_id') =>
  store === null ? sql<boolean>`true` : isInStores(column, [store])

function isDeletable(ctx: SystemContext, store: string | null = null) {
  const now = ctx.now()
  const unusedSince = new Date(now.getTime() - unusedMs)
  return sql<boolean>`(files.expires_at <= ${now} or (files.expires_at is null
    and files.updated_at <= ${unusedSince} and not exists (
      select 1 from file_uses u where u.store_id = files.store_id and u.file_id = files.id and ${inStore(store, 'u.store_id')})))`
}

interface Deletable {
  store_id: string
  id: string
  key: string
}

/**
 * Selects files to delete and marks them as expired, under row locks. The check after locking sees a use that was added
 * concurrently; code that adds a use later finds the file expired. After a crash, the next run finds the files by
 * `expires_at`. Returns null if no more files can be deleted.
 */
function claimDeletable(ctx: SystemContext, store: string | null): Promise<Deletable[] | null> {
  return ctx.root.transaction().execute(async (transaction) => {
    const locked = await transaction
      .selectFrom('files')
      .select(['store_id', 'id', 'key'])
      .where(isDeletable(ctx, store))
      .where(inStore(store))
      .orderBy('store_id')
      .orderBy('id')
      .limit(batchSize)
      .forUpdate()
      .skipLocked()
      .execute()
    if (locked.length === 0) return null
    return transaction
      .updateTable('files')
      .set({ expires_at: leastKnown<Date>(sql.ref('expires_at'), ctx.now()) })
      .where((eb) => eb.or(locked.map((row) => eb.and({ store_id: row.store_id, id: row.id }))))
      .where(isDeletable(ctx, store))
      .where(inStore(store))
      .returning(['store_id', 'id', 'key'])
      .execute()
  })
}

async function deleteRows(ctx: SystemContext, files: Deletable[], store: string | null): Promise<void> {
  if (files.length === 0) return
  await ctx.root
    .deleteFrom('files')
    .where((eb) => eb.or(files.map((row) => eb.and({ store_id: row.store_id, id: row.id }))))
    .where(inStore(store))
    .where('expires_at', '<=', ctx.now())
    .execute()
}
