/** Finds the purchases that reviews belong to, and closes their review requests. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { emailKey, emailKeySql } from '#runtime/values/email'

export interface Purchase {
  orderId: string
  orderItemId: string
  orderNumber: string
  customerName: string | null
  email: string | null
  phone: string | null
  phoneKey: string | null
}

const queryPurchases = (ctx: Context, productId: string, variantId: string | null) =>
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
    // Prefers the item with the requested variant, if the order has one.
    .orderBy(sql`(i.variant_id is not distinct from ${variantId}::text) desc`)

/** Finds the product's item in an order; undefined if the order does not contain the product. */
export const findPurchase = (
  ctx: Context,
  orderId: string,
  productId: string,
  variantId: string | null,
): Promise<Purchase | undefined> =>
  queryPurchases(ctx, productId, variantId)
    .where('o.id', '=', orderId)
    .orderBy('i.position')
    .limit(1)
    .executeTakeFirst()

/** Finds the product's item in the newest paid order with this email address. */
export const findPaidPurchase = (
  ctx: Context,
  email: string,
  productId: string,
  variantId: string | null,
): Promise<Purchase | undefined> =>
  queryPurchases(ctx, productId, variantId)
    .where(sql<boolean>`${emailKeySql('o.customer_email')} = ${emailKey(email)}`)
    .where('o.status', '<>', 'cancelled')
    .where('o.payment_status', 'in', ['paid', 'partially-refunded'])
    .orderBy('o.placed_at', 'desc')
    .limit(1)
    .executeTakeFirst()

/** Closes the review requests for a reviewed product: scheduled requests are skipped, and sent ones get no reminders. */
export async function closeRequests(
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
        ...(email ? [sql<boolean>`${emailKeySql('customer_email')} = ${emailKey(email)}`] : []),
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
    // A request that is being sent becomes `reviewed` once it is sent.
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
