/** What other sections ask of this one. */
import { sql } from 'kysely'
import type { templates } from '#operations/messaging/door'
import type { home } from '#operations/store/door'

/** Alerts that are on send their template when stock returns; they fill in three parameters at most. */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) =>
  db
    .selectFrom('stock_alert_settings as a')
    .select(sql<string>`'the stock alerts'`.as('name'))
    .where('a.is_enabled', '=', true)
    .where(sql<boolean>`(a.content ->> 'officialapiTemplateId')::bigint = ${templateId}`)
    .$if(placeholders !== undefined && placeholders.header + placeholders.body <= 3, (query) =>
      query.where(sql<boolean>`false`),
    )

/** Deleted ones were requests too. */
export const stockRequests: home.StockRequests = {
  feature: 'stock-alerts',
  rows: (db) => db.selectFrom('stock_subscriptions as q').select('q.created_at as at'),
}
