/** What stands beside a conversation: the orders, automations and reviews of its contact. */
import { sql } from 'kysely'
import { order, orderJson } from '#operations/statistics/door'
import type { Context } from '#runtime/context'
import { instantOf, jsonObject } from '#runtime/database/json'
import { type Paging, preparedList } from '#runtime/database/list'
import { inCents } from '#runtime/database/sql'
import type { JsonText } from '#runtime/operation'
import { count, currency, id, instant, listOf, money, object, z } from '#runtime/schema'
import { contactOf } from './contact-of.ts'
import { isOfContact, matchedCustomer } from './contact-orders.ts'
import { reviewsOf } from './reviews-port.ts'

export const ordersPage = listOf(order).extend({
  summary: object({
    count: count.describe('Orders of any status, all time'),
    total: money.describe('Of paid ones that were not cancelled, all time, less refunds'),
    currency,
  }),
})

const orders = preparedList<{ phoneKey: string }>((db, values) => {
  const rows = db.selectFrom('orders as o').where(isOfContact(db, values.phoneKey))
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
          total: inCents(sql`coalesce(sum(o.total - o.refunded_total) filter (
            where o.payment_status in ('paid', 'partially-refunded') and o.status <> 'cancelled'
              and o.currency = (${own})), 0)`),
          currency: sql`(${own})`,
        }).as('json'),
      )})`,
    },
  }
})

/** Newest first, with what they come to. */
export async function listOrders(ctx: Context, conversationId: string, paging: Paging): Promise<JsonText> {
  const { phoneKey } = await contactOf(ctx, conversationId)
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
    messageId: id.nullable().describe('Of the message in this conversation; null until it was sent'),
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
    scheduledAt: instantOf('e.scheduled_at'),
    sentAt: instantOf('e.sent_at'),
    deliveredAt: instantOf('e.delivered_at'),
    readAt: instantOf('e.read_at'),
    failureReason: 'e.failure_reason',
    orderId: 'r.order_id',
    messageId: sql`case when e.sent_at is not null then e.id end`,
    createdAt: instantOf('e.created_at'),
  }),
  order: [
    ['e.created_at', 'desc'],
    ['e.id', 'desc'],
  ],
}))

/** Executions for the phone, pending ones too; of deleted automations as well. */
export async function listAutomations(
  ctx: Context,
  conversationId: string,
  paging: Paging,
): Promise<JsonText> {
  const { phoneKey } = await contactOf(ctx, conversationId)
  return automations(ctx, { ...paging, phoneKey })
}

export async function listReviews(ctx: Context, conversationId: string, paging: Paging): Promise<JsonText> {
  const { phoneKey } = await contactOf(ctx, conversationId)
  const matched = await matchedCustomer(ctx.db, phoneKey).executeTakeFirst()
  return reviewsOf(ctx, { phoneKey, customerId: matched?.customer_id ?? null }, paging)
}
