/** Finds conversations with queued messages that no worker processes. */

import { sql } from 'kysely'
import type { SystemContext } from '#runtime/context'
import { minuteMs } from '#runtime/durations'

const stuckAfterMs = minuteMs
const atOnce = 500

/** Finds conversations with messages that have been queued for over a minute and whose next retry is due. */
export async function findStuckConversations(
  ctx: SystemContext,
): Promise<{ store_id: string; conversation_id: string }[]> {
  const now = ctx.now()
  return ctx.root
    .selectFrom('inbox_messages')
    .select(['store_id', 'conversation_id'])
    .distinct()
    .where('status', '=', sql.lit('queued'))
    .where('created_at', '<=', new Date(now.getTime() - stuckAfterMs))
    .where((eb) => eb.or([eb('not_before', 'is', null), eb('not_before', '<=', now)]))
    .limit(atOnce)
    .execute()
}
