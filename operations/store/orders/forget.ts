/** Who ordered is forgotten; what was ordered stays, for the figures. */
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import type { Forgotten } from '../connections/platform-events.ts'

const nobody = {
  customer_id: null,
  customer_name: null,
  customer_email: null,
  customer_phone: null,
  phone_key: null,
  shipping_address: null,
  status_url: null,
  payment_url: null,
  tracking_code: null,
  tracking_url: null,
}
const nobodyJson = JSON.stringify({ id: null, name: null, email: null, phone: null })

/** Orders of a person, and what became of them. */
export async function forgetOrders(ctx: Context, person: Forgotten): Promise<void> {
  const { customerId, email, phoneKey, orderIds } = person
  const theirs = await ctx.db
    .updateTable('orders')
    .set(nobody)
    .where((eb) =>
      eb.or([
        isAmong('id', orderIds),
        ...(customerId === null ? [] : [eb('customer_id', '=', customerId)]),
        ...(email === null ? [] : [eb(eb.fn('lower', ['customer_email']), '=', email.toLowerCase())]),
        ...(phoneKey === null ? [] : [eb('phone_key', '=', phoneKey)]),
      ]),
    )
    .returning('id')
    .execute()
  const ids = theirs.map(({ id }) => id)
  await ctx.db
    .updateTable('conversions')
    .set({ customer: nobodyJson })
    .where(isAmong('order_id', ids))
    .execute()
  if (email === null && phoneKey === null) return
  await ctx.db
    .updateTable('attribution_touches')
    .set({ email: null, phone_key: null })
    .where((eb) =>
      eb.or([
        ...(email === null ? [] : [eb(eb.fn('lower', ['email']), '=', email.toLowerCase())]),
        ...(phoneKey === null ? [] : [eb('phone_key', '=', phoneKey)]),
      ]),
    )
    .execute()
}

/** All of them. */
export async function forgetAllOrders(ctx: Context): Promise<void> {
  await ctx.db.updateTable('orders').set(nobody).execute()
  await ctx.db.updateTable('conversions').set({ customer: nobodyJson }).execute()
}
