/** Requests go on where their order was cancelled meanwhile: the merchant decides, and is warned. */
import { notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { byTheSystem, note } from './history.ts'

interface Warned {
  id: string
  number: string
  order_id: string
  order_number: string
}

/** In the history, and to the merchant once a request; in the caller's transaction. */
export async function warnOfCancelled(ctx: Context, request: Warned): Promise<void> {
  const order = await ctx.db
    .selectFrom('orders')
    .select('id')
    .where('id', '=', request.order_id)
    .where((eb) => eb.or([eb('status', '=', 'cancelled'), eb('payment_status', '=', 'voided')]))
    .executeTakeFirst()
  if (!order) return
  const warning = `Order ${request.order_number} was cancelled: its money may have gone back already`
  await note(ctx, request.id, { event: 'order-cancelled', actor: byTheSystem, note: warning })
  await notify(ctx, {
    type: 'exchange-order-cancelled',
    level: 'warning',
    title: `The order of ${request.number} was cancelled`,
    message: `${warning}. Look at it before you refund or exchange anything.`,
    data: { requestId: request.id, orderId: request.order_id },
    dedupeKey: `exchange-order-cancelled:${request.id}`,
  })
}
