/** Who ordered is forgotten; what was ordered stays, for the figures. */
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { type Forgets, isTheirs } from '../forgotten.ts'

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
const byKeys = { email: 'email', phoneKey: 'phone_key' }

/** Orders of a person, and what became of them. */
export const forgetsOrders: Forgets = {
  async forget(ctx, person) {
    const columns = { customer: 'customer_id', email: 'customer_email', phoneKey: 'phone_key', order: 'id' }
    const now = ctx.now()
    const theirs = await ctx.db
      .updateTable('orders')
      .set({ ...nobody, updated_at: now })
      .where(isTheirs(person, columns))
      .returning('id')
      .execute()
    const ids = [...theirs.map(({ id }) => id), ...person.orderIds]
    await ctx.db
      .updateTable('conversions')
      .set({ customer: nobodyJson, updated_at: now })
      .where(isAmong('order_id', ids))
      .execute()
    await ctx.db
      .updateTable('attribution_touches')
      .set({ email: null, phone_key: null })
      .where(isTheirs(person, byKeys))
      .execute()
    await ctx.db
      .updateTable('message_ledger')
      .set({ email: null, phone_key: null })
      .where(isTheirs(person, byKeys))
      .execute()
  },
}

/** All of them. */
export async function forgetAllOrders(ctx: Context): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('orders')
    .set({ ...nobody, updated_at: now })
    .execute()
  await ctx.db.updateTable('conversions').set({ customer: nobodyJson, updated_at: now }).execute()
}
