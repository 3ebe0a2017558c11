/** Implements extension points of other sections: which templates are in use, and the number of stock requests. */
import { sql } from 'kysely'
import type { templates } from '#operations/messaging/index'
import type { home } from '#operations/store/index'

/**
 * Finds enabled stock alerts that use the template. With `placeholders`, only if the template has more than the three
 * that alerts fill in.
 */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) =>
  db
    .selectFrom('stock_alert_settings as a')
    .select(sql<string>`'the stock alerts'`.as('name'))
    .where('a.is_enabled', '=', true)
    .where(sql<boolean>`(a.content ->> 'officialapiTemplateId')::bigint = ${templateId}`)
    .$if(placeholders !== undefined && placeholders.header + placeholders.body <= 3, (query) =>
      query.where(sql<boolean>`false`),
    )

/** The times of all stock requests, including deleted ones. */
export const stockRequests: home.StockRequests = {
  feature: 'stock-alerts',
  rows: (db) => db.selectFrom('stock_subscriptions as q').select('q.created_at as at'),
}
