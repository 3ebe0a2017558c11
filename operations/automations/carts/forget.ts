/** Carts of somebody who wants to be forgotten, and of a shop that left. */
import { type Forgotten, isTheirs } from '#operations/store/door'
import type { Context } from '#runtime/context'

const nobody = {
  customer_id: null,
  customer_name: null,
  customer_email: null,
  customer_phone: null,
  phone_key: null,
}

export async function forgetCarts(ctx: Context, person: Forgotten): Promise<void> {
  const columns = { customer: 'customer_id', email: 'customer_email', phoneKey: 'phone_key' }
  await ctx.db
    .updateTable('carts')
    .set({ ...nobody, updated_at: ctx.now() })
    .where(isTheirs(person, columns))
    .execute()
}

export async function forgetAllCarts(ctx: Context): Promise<void> {
  await ctx.db
    .updateTable('carts')
    .set({ ...nobody, updated_at: ctx.now() })
    .execute()
}
