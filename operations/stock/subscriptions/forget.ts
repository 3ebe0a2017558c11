/** Who waits for stock and wants to be forgotten; the numbers keep what they did. An alert on its way still arrives. */
import { sql } from 'kysely'
import type { Forgotten } from '#operations/store/door'
import type { Context } from '#runtime/context'

export async function forgetSubscriptions(ctx: Context, { emailKey, phoneKey }: Forgotten): Promise<void> {
  const keys = [emailKey, phoneKey].filter((key) => key !== null)
  if (keys.length === 0) return
  const now = ctx.now()
  await ctx.db
    .updateTable('stock_subscriptions')
    .set({
      deleted_at: now,
      email: null,
      phone: null,
      contact_key: null,
      name: null,
      status: sql<string>`case status when 'waiting' then 'cancelled' else status end`,
      updated_at: now,
    })
    .where('contact_key', 'in', keys)
    .where('deleted_at', 'is', null)
    .where('status', '!=', 'sending')
    .execute()
}
