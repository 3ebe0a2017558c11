/** Who asked for an exchange and wants to be forgotten: what was exchanged stays, without them. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import { type Forgets, type Forgotten, files, isTheirs, withoutThem } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { notices } from '../notices/lane.ts'
import { labelOwner } from '../requests/label.ts'
import { photosOwner } from '../requests/photos.ts'
import { searchTextOf } from '../requests/search.ts'

const nobody = {
  ...{ customer_id: null, customer_name: null, customer_email: null, customer_phone: null },
  ...{ customer_address: null, comment: null, filling: null, photo_count: 0 },
  // The label, and what the carrier says of the parcel, have their address.
  ...{ label_url: null, tracking_code: null },
}

export const forgetsRequests: Forgets = {
  async stop(ctx, person) {
    const ids = await noticesOf(ctx, await requestsOf(ctx, person))
    await outbox.endForgotten(ctx, notices, ids)
  },
  async forget(ctx, person) {
    const requests = await requestsOf(ctx, person)
    for (const id of requests) {
      await files.setUses(ctx, photosOwner(id), [])
      await files.setUses(ctx, labelOwner(id), [])
      await ctx.db
        .updateTable('exchange_requests')
        .set({
          ...nobody,
          // It was written to them.
          rejection_reason: withoutThem(person, 'rejection_reason'),
          search_text: await searchTextWithout(ctx, id),
          updated_at: ctx.now(),
        })
        .where('id', '=', id)
        .execute()
    }
    const isOfTheirs = isAmong('request_id', requests, 'uuid')
    await ctx.db.updateTable('exchange_items').set({ comment: null }).where(isOfTheirs).execute()
    await ctx.db
      .updateTable('exchange_history')
      .set({
        actor_name: sql<string | null>`case when actor_type = 'customer' then null else actor_name end`,
        note: sql<string | null>`case when actor_type = 'customer' then null else note end`,
      })
      .where(isOfTheirs)
      .execute()
    await ctx.db.deleteFrom('exchange_photos').where(isOfTheirs).execute()
    await ctx.db.deleteFrom('exchange_tokens').where(isOfTheirs).execute()
    await ctx.db.deleteFrom('exchange_notices').where(isOfTheirs).execute()
  },
}

async function requestsOf(ctx: Context, person: Forgotten): Promise<string[]> {
  const columns = {
    customer: 'customer_id',
    email: 'customer_email',
    phone: 'customer_phone',
    order: 'order_id',
  }
  const rows = await ctx.db
    .selectFrom('exchange_requests')
    .select('id')
    .where(isTheirs(person, columns))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

async function noticesOf(ctx: Context, requests: readonly string[]): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('exchange_notices')
    .select('id')
    .where(isAmong('request_id', requests, 'uuid'))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

async function searchTextWithout(ctx: Context, id: string): Promise<string> {
  const { number, order_number: orderNumber } = await ctx.db
    .selectFrom('exchange_requests')
    .select(['number', 'order_number'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const items = await ctx.db
    .selectFrom('exchange_items')
    .select(['name', 'sku'])
    .where('request_id', '=', id)
    .orderBy('position')
    .execute()
  return searchTextOf({
    ...{ number, orderNumber, items },
    ...{ customerName: null, customerEmail: null, customerPhone: null },
  })
}
