/** Queries of other sections about exchanges: the pending count for the home page, and whether a template is in use. */
import { sql } from 'kysely'
import type { templates } from '#operations/messaging/index'
import { type home, isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
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

/** The items of these orders that a completed return has brought back: nobody is asked to review them. */
export const findReturnedItems = (
  ctx: Context,
  orderIds: readonly string[],
): Promise<{ orderId: string; itemId: string }[]> =>
  ctx.db
    .selectFrom('exchange_requests as r')
    .innerJoin('exchange_items as i', 'i.request_id', 'r.id')
    .select(['r.order_id as orderId', 'i.order_item_id as itemId'])
    .where(isAmong('r.order_id', orderIds))
    .where('r.type', '=', 'return')
    .where('r.status', '=', 'completed')
    .where(sql<boolean>`coalesce(i.received_quantity, i.approved_quantity, i.quantity) > 0`)
    .execute()

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
