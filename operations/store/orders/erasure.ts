/** Erases the customers of orders. The orders themselves stay, because the statistics count them. */
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { belongsToSubject, type ErasureHandler } from '../erasure.ts'

const erasedColumns = {
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
const erasedCustomerJson = JSON.stringify({ id: null, name: null, email: null, phone: null })
const contactColumns = { email: 'email', phoneKey: 'phone_key' }

/** Erases a person from orders, conversions, touches and the message ledger. */
export const orderErasure: ErasureHandler = {
  async erase(ctx, person) {
    const columns = { customer: 'customer_id', email: 'customer_email', phoneKey: 'phone_key', order: 'id' }
    const now = ctx.now()
    const erased = await ctx.db
      .updateTable('orders')
      .set({ ...erasedColumns, updated_at: now })
      .where(belongsToSubject(person, columns))
      .returning('id')
      .execute()
    const ids = [...erased.map(({ id }) => id), ...person.orderIds]
    await ctx.db
      .updateTable('conversions')
      .set({ customer: erasedCustomerJson, updated_at: now })
      .where(isAmong('order_id', ids))
      .execute()
    await ctx.db
      .updateTable('attribution_touches')
      .set({ email: null, phone_key: null })
      .where(belongsToSubject(person, contactColumns))
      .execute()
    await ctx.db
      .updateTable('message_ledger')
      .set({ email: null, phone_key: null })
      .where(belongsToSubject(person, contactColumns))
      .execute()
  },
}

export async function eraseAllOrders(ctx: Context): Promise<void> {
  const now = ctx.now()
  await ctx.db
    .updateTable('orders')
    .set({ ...erasedColumns, updated_at: now })
    .execute()
  await ctx.db.updateTable('conversions').set({ customer: erasedCustomerJson, updated_at: now }).execute()
}
