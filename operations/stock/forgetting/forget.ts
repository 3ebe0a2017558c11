/** Who waits for stock and wants to be forgotten; the numbers keep what they did. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import { type Forgets, type Forgotten, isTheirs } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { after, alerts } from '../sending/lane.ts'

const columns = { email: 'email', phone: 'phone', phoneKey: 'contact_key' }

export const forgetsSubscriptions: Forgets = {
  async stop(ctx, person) {
    const sending = (await subscriptionsOf(ctx, person)).filter(({ status }) => status === 'sending')
    await outbox.endForgotten(
      ctx,
      alerts,
      sending.map(({ id }) => id),
      (row) => after(ctx, row, { is: 'cancelled', code: 'opted-out' }),
    )
  },
  async forget(ctx, person) {
    const ids = (await subscriptionsOf(ctx, person)).map(({ id }) => id)
    const now = ctx.now()
    await ctx.db
      .updateTable('stock_subscriptions')
      .set({
        deleted_at: sql<Date>`coalesce(deleted_at, ${now})`,
        ...{ email: null, phone: null, contact_key: null, name: null },
        status: sql<string>`case when status = 'waiting' then 'cancelled' else status end`,
        updated_at: now,
      })
      .where(isAmong('id', ids, 'uuid'))
      .execute()
  },
}

const subscriptionsOf = (ctx: Context, person: Forgotten) =>
  ctx.db
    .selectFrom('stock_subscriptions')
    .select(['id', 'status'])
    .where(isTheirs(person, columns))
    .orderBy('id')
    .execute()
