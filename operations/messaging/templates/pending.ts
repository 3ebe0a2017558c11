/** Templates that need the merchant's attention. */
import { sql } from 'kysely'
import type { home } from '#operations/store/index'

export const rejectedTemplates: home.PendingPart = {
  feature: 'messaging',
  count: (db) =>
    db.selectFrom('message_templates').where('status', '=', 'rejected').select(sql`count(*)::int`.as('n')),
}
