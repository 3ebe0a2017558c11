/** Erases a person from their requests; the requests stay, anonymized. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import {
  belongsToSubject,
  type DataSubject,
  type ErasureHandler,
  files,
  redactSubject,
} from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { notices } from '../notices/outbox-source.ts'
import { getLabelOwner, getPhotosOwner } from '../requests/photos.ts'
import { buildSearchText } from '../requests/search.ts'

const erasedFields = {
  ...{ customer_id: null, customer_name: null, customer_email: null, customer_phone: null },
  ...{ customer_address: null, comment: null, filling: null, photo_count: 0 },
  // The label and the carrier's tracking page show the person's address.
  ...{ label_url: null, tracking_code: null },
}

export const requestErasure: ErasureHandler = {
  async stop(ctx, person) {
    const ids = await findNotices(ctx, await findRequests(ctx, person))
    await outbox.endForErasure(ctx, notices, ids)
  },
  async erase(ctx, person) {
    const requests = await findRequests(ctx, person)
    for (const id of requests) {
      await files.setUses(ctx, getPhotosOwner(id), [])
      await files.setUses(ctx, getLabelOwner(id), [])
      await ctx.db
        .updateTable('exchange_requests')
        .set({
          ...erasedFields,
          // The merchant wrote the reason to the person, so it may contain their name.
          rejection_reason: redactSubject(person, 'rejection_reason'),
          search_text: await buildAnonymousSearchText(ctx, id),
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

async function findRequests(ctx: Context, person: DataSubject): Promise<string[]> {
  const columns = {
    customer: 'customer_id',
    email: 'customer_email',
    phone: 'customer_phone',
    order: 'order_id',
  }
  const rows = await ctx.db
    .selectFrom('exchange_requests')
    .select('id')
    .where(belongsToSubject(person, columns))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

async function findNotices(ctx: Context, requests: readonly string[]): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('exchange_notices')
    .select('id')
    .where(isAmong('request_id', requests, 'uuid'))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

async function buildAnonymousSearchText(ctx: Context, id: string): Promise<string> {
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
  return buildSearchText({
    ...{ number, orderNumber, items },
    ...{ customerName: null, customerEmail: null, customerPhone: null },
  })
}
