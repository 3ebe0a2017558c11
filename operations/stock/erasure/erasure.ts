/** Erases a person from stock subscriptions. The metrics still count the subscriptions. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import { belongsToSubject, type DataSubject, type ErasureHandler } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { alerts, applyResult } from '../sending/outbox-source.ts'

const columns = { email: 'email', phone: 'phone', phoneKey: 'contact_key' }

export const subscriptionErasure: ErasureHandler = {
  async stop(ctx, person) {
    const sending = (await findSubscriptions(ctx, person)).filter(({ status }) => status === 'sending')
    await outbox.endForErasure(
      ctx,
      alerts,
      sending.map(({ id }) => id),
      (row) => applyResult(ctx, row, { kind: 'cancelled', code: 'opted-out' }),
    )
  },
  async erase(ctx, person) {
    const ids = (await findSubscriptions(ctx, person)).map(({ id }) => id)
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

const findSubscriptions = (ctx: Context, person: DataSubject) =>
  ctx.db
    .selectFrom('stock_subscriptions')
    .select(['id', 'status'])
    .where(belongsToSubject(person, columns))
    .orderBy('id')
    .execute()
