/** Counts paused campaigns, which wait for the merchant, for the home page. */
import { sql } from 'kysely'
import type { home } from '#operations/store/index'

export const pausedCampaigns: home.PendingPart = {
  feature: 'campaigns',
  count: (db) =>
    db
      .selectFrom('campaigns')
      .where('status', '=', 'paused')
      .where('deleted_at', 'is', null)
      .select(sql`count(*)::int`.as('n')),
}
