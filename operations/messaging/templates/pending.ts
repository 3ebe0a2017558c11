/** What of templates waits for the merchant. */
import { sql } from 'kysely'
import type { home } from '#operations/store/door'

export const rejectedTemplates: home.PendingPart = {
  feature: 'messaging',
  count: (db) =>
    db.selectFrom('message_templates').where('status', '=', 'rejected').select(sql`count(*)::int`.as('n')),
}
