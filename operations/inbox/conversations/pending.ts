/** What of the inbox waits for the merchant. */
import { sql } from 'kysely'
import type { home } from '#operations/store/door'

/** As the status of the inbox counts them: open ones. */
export const unreadConversations: home.PendingPart = {
  feature: 'inbox',
  count: (db) =>
    db
      .selectFrom('conversations')
      .where('status', '=', 'open')
      .where('unread_count', '>', 0)
      .select(sql`count(*)::int`.as('n')),
}
