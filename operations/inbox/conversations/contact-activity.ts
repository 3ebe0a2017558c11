/** Lists the orders, automation messages and reviews of a conversation's contact. */
import { sql } from 'kysely'
import { order, orderJson } from '#operations/statistics/index'
import type { Context } from '#runtime/context'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { roundToCents } from '#runtime/database/sql'
import type { JsonText } from '#runtime/operation'
import { count, currency, id, instant, listOf, money, object, z } from '#runtime/schema'
import { belongsToContact, selectMatchedCustomer } from './contact-orders.ts'
import { getConversationContact } from './conversation-contact.ts'
import { listContactReviews } from './reviews-port.ts'

export const ordersPage = listOf(order).extend({
  summary: object({
    count: count.describe('Orders of any status, all time'),
    total: money.describe('Paid orders that were not cancelled, all time, less refunds'),
    currency,
  }),
})

const orders = preparedList<{ phoneKey: string }>((db, values) => {
  const rows = db.selectFrom('orders as o').where(belongsToContact(db, values.phoneKey))
  const own = db.selectFrom('stores as s').select('s.currency')
  return {
    rows,
    item: orderJson(db),
    page: 'o',
    order: [
      ['o.placed_at', 'desc'],
      ['o.id', 'desc'],
    ],
    extra: {
      summary: sql`(${rows.select(
        jsonObject({
          count: sql`count(*)`,
          total: roundToCents(sql`coalesce(sum(o.total - o.refunded_total) filter (
            where o.payment_status in ('paid', 'partially-refunded') and o.status <> 'cancelled'
              and o.currency = (${own})), 0)`),
          currency: sql`(${own})`,
        }).as('json'),
      )})`,
    },
  }
})

/** Lists the contact's orders, newest first, with their number and total. */
export async function listOrders(ctx: Context, conversationId: string, paging: Paging): Promise<JsonText> {
  const { phoneKey } = await getConversationContact(ctx, conversationId)
  return orders(ctx, { ...paging, phoneKey })
}

export const automationsPage = listOf(
  object({
    id,
    automationId: id,
    automationName: z.string(),
    automationType: z.string(),
    origin: z.enum(['event', 'manual']),
    status: z.string(),
    scheduledAt: instant,
    sentAt: instant.nullable(),
    deliveredAt: instant.nullable(),
    readAt: instant.nullable(),
    failureReason: z.string().nullable(),
    orderId: z.string().nullable(),
    messageId: id.nullable().describe('The message in this conversation; null until it was sent'),
    createdAt: instant,
  }),
)

const automations = preparedList<{ phoneKey: string }>((db, values) => ({
  rows: db
    .selectFrom('automation_executions as e')
    .innerJoin('automation_runs as r', 'r.id', 'e.run_id')
    .innerJoin('automations as a', 'a.id', 'e.automation_id')
    .where('e.phone_key', '=', values.phoneKey),
  item: jsonObject({
    id: 'e.id',
    automationId: 'e.automation_id',
    automationName: 'a.name',
    automationType: 'a.type',
    origin: 'r.origin',
    status: 'e.status',
    scheduledAt: isoInstant('e.scheduled_at'),
    sentAt: isoInstant('e.sent_at'),
    deliveredAt: isoInstant('e.delivered_at'),
    readAt: isoInstant('e.read_at'),
    failureReason: 'e.failure_reason',
    orderId: 'r.order_id',
    messageId: sql`case when e.sent_at is not null then e.id end`,
    createdAt: isoInstant('e.created_at'),
  }),
  order: [
    ['e.created_at', 'desc'],
    ['e.id', 'desc'],
  ],
}))

/** Lists the automation messages to the contact's phone, including pending ones and those of deleted automations. */
export async function listAutomations(
  ctx: Context,
  conversationId: string,
  paging: Paging,
): Promise<JsonText> {
  const { phoneKey } = await getConversationContact(ctx, conversationId)
  return automations(ctx, { ...paging, phoneKey })
}

export async function listReviews(ctx: Context, conversationId: string, paging: Paging): Promise<JsonText> {
  const { phoneKey } = await getConversationContact(ctx, conversationId)
  const matched = await selectMatchedCustomer(ctx.db, phoneKey).executeTakeFirst()
  return listContactReviews(ctx, { phoneKey, customerId: matched?.customer_id ?? null }, paging)
}
