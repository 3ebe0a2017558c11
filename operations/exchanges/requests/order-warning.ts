/** Warns the merchant about an open request whose order was cancelled, or refunded at the platform. */
import { amounts, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { addHistoryEntry, systemActor } from './history.ts'

interface WarnedRequest {
  id: string
  number: string
  order_id: string
  order_number: string
}

/**
 * Adds a history entry if the order was refunded at the platform since the last decision on the request: the merchant may
 * have refunded this request already.
 */
export async function noteRefunds(
  ctx: Context,
  request: { id: string; order_refunded: string },
  order: { number: string; currency: string; refundedTotal: string },
): Promise<void> {
  const { toCents, toMoney } = amounts.inCurrency(order.currency)
  const since = toCents(order.refundedTotal) - toCents(request.order_refunded)
  if (since <= 0n) return
  const refunded = `${order.currency} ${toMoney(since)} of order ${order.number} was refunded at the platform`
  await addHistoryEntry(ctx, request.id, {
    event: 'order-refunded',
    actor: systemActor,
    note: `${refunded} since the last decision: check whether it was for this request`,
  })
}

/** Adds a history entry and notifies the merchant, once per request, in the caller's transaction. The request continues. */
export async function warnOfCancelledOrder(ctx: Context, request: WarnedRequest): Promise<void> {
  const order = await ctx.db
    .selectFrom('orders')
    .select('id')
    .where('id', '=', request.order_id)
    .where((eb) => eb.or([eb('status', '=', 'cancelled'), eb('payment_status', '=', 'voided')]))
    .executeTakeFirst()
  if (!order) return
  const warning = `Order ${request.order_number} was cancelled: its money may have gone back already`
  await addHistoryEntry(ctx, request.id, { event: 'order-cancelled', actor: systemActor, note: warning })
  await notify(ctx, {
    type: 'exchange-order-cancelled',
    level: 'warning',
    title: `The order of ${request.number} was cancelled`,
    message: `${warning}. Look at it before you refund or exchange anything.`,
    data: { requestId: request.id, orderId: request.order_id },
    dedupeKey: `exchange-order-cancelled:${request.id}`,
  })
}
