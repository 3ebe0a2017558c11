/** Whom a request or a review can reach, who wants to be forgotten; what they wrote stays, under the name they gave it. */
import type { Forgotten } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'

export async function forgetReviewers(ctx: Context, person: Forgotten): Promise<void> {
  const { email, phoneKey, orderIds } = person
  const nobody = { customer_email: null, customer_phone: null, phone_key: null }
  for (const [table, set] of [
    ['product_reviews', nobody],
    ['review_dispatches', { ...nobody, customer_name: null }],
  ] as const) {
    await ctx.db
      .updateTable(table)
      .set(set)
      .where((eb) =>
        eb.or([
          isAmong('order_id', orderIds),
          ...(email === null ? [] : [eb(eb.fn('lower', ['customer_email']), '=', email.toLowerCase())]),
          ...(phoneKey === null ? [] : [eb('phone_key', '=', phoneKey)]),
        ]),
      )
      .execute()
  }
}
