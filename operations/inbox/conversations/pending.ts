/** Pending counts of the inbox on the home page. */
import { sql } from 'kysely'
import type { home } from '#operations/store/index'

/** Open conversations only, like the inbox status. */
export const unreadConversations: home.PendingPart = {
  feature: 'inbox',
  count: (db) =>
    db
      .selectFrom('conversations')
      .where('status', '=', 'open')
      .where('unread_count', '>', 0)
      .select(sql`count(*)::int`.as('n')),
}
