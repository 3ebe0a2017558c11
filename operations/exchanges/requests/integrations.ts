/** Queries of other sections about exchanges: the pending count for the home page, and whether a template is in use. */
import { sql } from 'kysely'
import type { templates } from '#operations/messaging/index'
import type { home } from '#operations/store/index'
import { events } from '../settings/schema.ts'

/** The number of requests that wait for a decision, for the home page. */
export const pendingRequests: home.PendingPart = {
  feature: 'exchanges',
  count: (db) =>
    db
      .selectFrom('exchange_requests')
      .where('status', '=', sql.lit('requested'))
      .select(sql<number>`count(*)::int`.as('n')),
}

/** Whether a template is used by the settings. Messages use one template per event and fill in at most three parameters. */
export const templateUse: templates.TemplateUse = (db, templateId, placeholders) => {
  const ofEvent = (event: string) =>
    sql`(s.content -> 'messaging' -> ${sql.lit(event)} ->> 'officialapiTemplateId')::bigint = ${templateId}`
  return db
    .selectFrom('exchange_settings as s')
    .select(sql<string>`'messages about exchanges'`.as('name'))
    .where(sql<boolean>`(${sql.join(events.map(ofEvent), sql` or `)})`)
    .$if(placeholders !== undefined && Math.max(placeholders.header, placeholders.body) <= 3, (query) =>
      query.where(sql<boolean>`false`),
    )
}
