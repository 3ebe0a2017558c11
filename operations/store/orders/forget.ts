/** Who ordered is forgotten; what was ordered stays, for the figures. */
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { type Forgotten, isTheirs } from '../forgotten.ts'

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
  const columns = { customer: 'customer_id', email: 'customer_email', phoneKey: 'phone_key', order: 'id' }
  const theirs = await ctx.db
    .updateTable('orders')
    .set({ ...nobody, updated_at: ctx.now() })
    .where(isTheirs(person, columns))
    .returning('id')
    .execute()
  const ids = theirs.map(({ id }) => id)
  await ctx.db
    .updateTable('conversions')
    .set({ customer: nobodyJson, updated_at: ctx.now() })
    .where(isAmong('order_id', ids))
    .execute()
  await ctx.db
    .updateTable('attribution_touches')
    .set({ email: null, phone_key: null })
    .where(isTheirs(person, { email: 'email', phoneKey: 'phone_key' }))
    .execute()
}

/** All of them. */
export async function forgetAllOrders(ctx: Context): Promise<void> {
  await ctx.db
    .updateTable('orders')
    .set({ ...nobody, updated_at: ctx.now() })
    .execute()
  await ctx.db.updateTable('conversions').set({ customer: nobodyJson, updated_at: ctx.now() }).execute()
}
