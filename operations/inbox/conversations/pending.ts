/** Counts unread conversations for the home page. */
import { sql } from 'kysely'
import type { home } from '#operations/store/index'

/** Counts only open conversations, like the status of the inbox does. */
export const unreadConversations: home.PendingPart = {
  feature: 'inbox',
  count: (db) =>
    db
      .selectFrom('conversations')
      .where('status', '=', 'open')
      .where('unread_count', '>', 0)
      .select(sql`count(*)::int`.as('n')),
}
