/** Erases a person from review requests and reviews. Their reviews are anonymized and kept. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/index'
import {
  belongsToSubject,
  type DataSubject,
  type ErasureHandler,
  mentionsSubject,
  redactSubject,
} from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { getAnonymousName } from '#runtime/values/public-name'
import { buildSearchText } from '../review-text.ts'
import { requestMessages } from './outbox-source.ts'

const columns = { email: 'customer_email', phoneKey: 'phone_key', order: 'order_id' }
const unknown = { customer_email: null, customer_phone: null, phone_key: null }

export const reviewerErasure: ErasureHandler = {
  async stop(ctx, person) {
    const now = ctx.now()
    await ctx.db
      .updateTable('review_dispatches')
      .set({ status: 'skipped', reason: 'opted-out', next_reminder_at: null, updated_at: now })
      .where(belongsToSubject(person, columns))
      .where('status', '=', 'scheduled')
      .execute()
    await outbox.endForErasure(ctx, requestMessages, await findMessages(ctx, person))
  },
  async erase(ctx, person) {
    const now = ctx.now()
    const messages = await findMessages(ctx, person)
    await ctx.db
      .updateTable('review_messages')
      .set({ email: null, phone: null, content: null, updated_at: now })
      .where(isAmong('id', messages, 'uuid'))
      .execute()
    await ctx.db
      .deleteFrom('review_tokens')
      .where(belongsToSubject(person, { order: 'order_id' }))
      .execute()
    const dispatches = await ctx.db
      .updateTable('review_dispatches')
      .set({ ...unknown, customer_name: null, next_reminder_at: null, updated_at: now })
      .where(belongsToSubject(person, columns))
      .returning(['id', 'order_number', 'product_name'])
      .execute()
    for (const { id, order_number: order, product_name: product } of dispatches) {
      await ctx.db
        .updateTable('review_dispatches')
        .set({ search_text: buildSearchText([order, product]), updated_at: now })
        .where('id', '=', id)
        .execute()
    }
    await anonymizeReviews(ctx, person)
    await ctx.db
      .updateTable('review_import_rows')
      .set({
        cells: sql<string>`(select coalesce(jsonb_agg(''::text), '[]') from jsonb_array_elements(cells))`,
      })
      .where(mentionsSubject(person, sql<string>`cells::text`))
      .execute()
  },
}

async function anonymizeReviews(ctx: Context, person: DataSubject): Promise<void> {
  const reviews = await ctx.db
    .updateTable('product_reviews')
    .set({
      ...unknown,
      customer_name: getAnonymousName(ctx.store.locale),
      title: redactSubject(person, 'title'),
      text: redactSubject(person, 'text'),
      reply_text: redactSubject(person, 'reply_text'),
      rejection_reason: redactSubject(person, 'rejection_reason'),
      updated_at: ctx.now(),
    })
    .where(belongsToSubject(person, columns))
    .returning(['id', 'product_name', 'title', 'text', 'customer_name'])
    .execute()
  for (const { id, product_name, title, text, customer_name } of reviews) {
    await ctx.db
      .updateTable('product_reviews')
      .set({
        search_text: buildSearchText([customer_name, title, text, product_name]),
        updated_at: ctx.now(),
      })
      .where('id', '=', id)
      .execute()
  }
}

/** Finds all messages of the person's requests, not only the latest message of each request. */
async function findMessages(ctx: Context, person: DataSubject): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('review_messages')
    .select('id')
    .where(belongsToSubject(person, { email: 'email', phone: 'phone', order: 'order_id' }))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Erases the personal data in reviews and requests that comes from orders of the shop, after it was uninstalled. */
export async function eraseShop(ctx: Context): Promise<void> {
  const rows = await ctx.db
    .selectFrom('review_dispatches')
    .select('order_id')
    .distinct()
    .where((eb) =>
      eb.or([
        eb('customer_name', 'is not', null),
        eb('customer_email', 'is not', null),
        eb('phone_key', 'is not', null),
      ]),
    )
    .execute()
  const person: DataSubject = {
    ...{ customerId: null, emailKeys: [], phoneKeys: [], names: [] },
    orderIds: rows.map((row) => row.order_id),
  }
  await reviewerErasure.stop!(ctx, person)
  await reviewerErasure.erase(ctx, person)
}
