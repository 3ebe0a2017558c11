/** Orders that a review comes from. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { emailKey, emailKeyOf } from '#runtime/values/email'

export interface Purchase {
  orderId: string
  orderItemId: string
  orderNumber: string
  customerName: string | null
  email: string | null
  phone: string | null
  phoneKey: string | null
}

const purchases = (ctx: Context, productId: string, variantId: string | null) =>
  ctx.db
    .selectFrom('order_items as i')
    .innerJoin('orders as o', 'o.id', 'i.order_id')
    .select([
      'o.id as orderId',
      'i.id as orderItemId',
      'o.number as orderNumber',
      'o.customer_name as customerName',
      'o.customer_email as email',
      'o.customer_phone as phone',
      'o.phone_key as phoneKey',
    ])
    .where('i.product_id', '=', productId)
    // The variant that was named first, if the order has it.
    .orderBy(sql`(i.variant_id is not distinct from ${variantId}::text) desc`)

/** The item of an order; undefined where the product is not in it. */
export const purchaseOf = (
  ctx: Context,
  orderId: string,
  productId: string,
  variantId: string | null,
): Promise<Purchase | undefined> =>
  purchases(ctx, productId, variantId)
    .where('o.id', '=', orderId)
    .orderBy('i.position')
    .limit(1)
    .executeTakeFirst()

/** The newest paid order of that address with the product. */
export const paidPurchaseBy = (
  ctx: Context,
  email: string,
  productId: string,
  variantId: string | null,
): Promise<Purchase | undefined> =>
  purchases(ctx, productId, variantId)
    .where(sql<boolean>`${emailKeyOf('o.customer_email')} = ${emailKey(email)}`)
    .where('o.status', '<>', 'cancelled')
    .where('o.payment_status', 'in', ['paid', 'partially-refunded'])
    .orderBy('o.placed_at', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Requests about what was reviewed now: nobody is reminded, nor asked by those that wait. */
export async function settleRequests(
  ctx: Context,
  reviewId: string,
  productId: string,
  { orderId, email, phoneKey }: Purchase,
): Promise<void> {
  const rows = await ctx.db
    .selectFrom('review_dispatches')
    .select(['id', 'status'])
    .where('product_id', '=', productId)
    .where((eb) =>
      eb.or([
        eb('order_id', '=', orderId),
        ...(email ? [sql<boolean>`${emailKeyOf('customer_email')} = ${emailKey(email)}`] : []),
        ...(phoneKey ? [eb('phone_key', '=', phoneKey)] : []),
      ]),
    )
    .where('status', 'in', ['scheduled', 'sending', 'sent'])
    .orderBy('id')
    .forUpdate()
    .execute()
  const idsOf = (status: string): string[] => rows.flatMap((row) => (row.status === status ? row.id : []))
  const changes = {
    scheduled: { status: 'skipped', reason: 'already-reviewed' },
    // Becomes `reviewed` once it has left.
    sending: { review_id: reviewId },
    sent: { status: 'reviewed', review_id: reviewId, next_reminder_at: null },
  }
  for (const [status, values] of Object.entries(changes)) {
    const ids = idsOf(status)
    if (ids.length === 0) continue
    await ctx.db
      .updateTable('review_dispatches')
      .set({ ...values, updated_at: ctx.now() })
      .where(isAmong('id', ids, 'uuid'))
      .execute()
  }
}
