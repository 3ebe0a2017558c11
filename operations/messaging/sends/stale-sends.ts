import type { RootDatabase } from '#db/database'

const atATime = 500

/** Finds queued messages of all stores whose worker died or whose job was lost, oldest first. */
export async function findStaleSends(
  root: RootDatabase,
  now: Date,
): Promise<{ storeId: string; messageId: string }[]> {
  return root
    .selectFrom('direct_messages')
    .select(['store_id as storeId', 'id as messageId'])
    .where('status', '=', 'queued')
    .where('next_try_at', '<=', now)
    .orderBy('created_at')
    .limit(atATime)
    .execute()
}
