/** What other sections ask of this one. */
import { sql } from 'kysely'
import type { templates } from '#operations/messaging/lib/door'
import type { home } from '#operations/store/lib/door'

/** Alerts that are on send their template when stock returns. */
export const templateUse: templates.TemplateUse = (db, templateId) =>
  db
    .selectFrom('stock_alert_settings as a')
    .select(sql<string>`'the stock alerts'`.as('name'))
    .where('a.is_enabled', '=', true)
    .where(sql<boolean>`(a.content ->> 'officialapiTemplateId')::bigint = ${templateId}`)

/** Deleted ones were requests too. */
export const stockRequests: home.StockRequests = {
  feature: 'stock-alerts',
  rows: (db) => db.selectFrom('stock_subscriptions as q').select('q.created_at as at'),
}
