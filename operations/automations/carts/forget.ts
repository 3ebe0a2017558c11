/** Carts of somebody who wants to be forgotten, and of a shop that left. */
import type { Forgotten } from '#operations/store/door'
import type { Context } from '#runtime/context'

const nobody = {
  customer_id: null,
  customer_name: null,
  customer_email: null,
  customer_phone: null,
  phone_key: null,
}

export async function forgetCarts(ctx: Context, { customerId, email, phoneKey }: Forgotten): Promise<void> {
  if (customerId === null && email === null && phoneKey === null) return
  await ctx.db
    .updateTable('carts')
    .set(nobody)
    .where((eb) =>
      eb.or([
        ...(customerId === null ? [] : [eb('customer_id', '=', customerId)]),
        ...(email === null ? [] : [eb(eb.fn('lower', ['customer_email']), '=', email.toLowerCase())]),
        ...(phoneKey === null ? [] : [eb('phone_key', '=', phoneKey)]),
      ]),
    )
    .execute()
}

export async function forgetAllCarts(ctx: Context): Promise<void> {
  await ctx.db.updateTable('carts').set(nobody).execute()
}
