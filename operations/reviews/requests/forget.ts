/** Whom a request or a review can reach, who wants to be forgotten; what they wrote stays, under nobody's name. */
import { sql } from 'kysely'
import { outbox } from '#operations/messaging/door'
import { type Forgets, type Forgotten, isTheirs, namesThem, withoutThem } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { isAmong } from '#runtime/database/recordset'
import { someone } from '#runtime/values/public-name'
import { searchText } from '../words.ts'
import { requestMessages } from './lane.ts'

const columns = { email: 'customer_email', phoneKey: 'phone_key', order: 'order_id' }
const unknown = { customer_email: null, customer_phone: null, phone_key: null }

export const forgetsReviewers: Forgets = {
  async stop(ctx, person) {
    const now = ctx.now()
    await ctx.db
      .updateTable('review_dispatches')
      .set({ status: 'skipped', reason: 'opted-out', next_reminder_at: null, updated_at: now })
      .where(isTheirs(person, columns))
      .where('status', '=', 'scheduled')
      .execute()
    await outbox.endForgotten(ctx, requestMessages, await messagesOf(ctx, person))
  },
  async forget(ctx, person) {
    const now = ctx.now()
    const messages = await messagesOf(ctx, person)
    await ctx.db
      .updateTable('review_messages')
      .set({ email: null, phone: null, content: null, updated_at: now })
      .where(isAmong('id', messages, 'uuid'))
      .execute()
    await ctx.db
      .deleteFrom('review_tokens')
      .where(isTheirs(person, { order: 'order_id' }))
      .execute()
    const dispatches = await ctx.db
      .updateTable('review_dispatches')
      .set({ ...unknown, customer_name: null, next_reminder_at: null, updated_at: now })
      .where(isTheirs(person, columns))
      .returning(['id', 'order_number', 'product_name'])
      .execute()
    for (const { id, order_number: order, product_name: product } of dispatches) {
      await ctx.db
        .updateTable('review_dispatches')
        .set({ search_text: searchText([order, product]), updated_at: now })
        .where('id', '=', id)
        .execute()
    }
    await forgetReviews(ctx, person)
    await ctx.db
      .updateTable('review_import_rows')
      .set({
        cells: sql<string>`(select coalesce(jsonb_agg(''::text), '[]') from jsonb_array_elements(cells))`,
      })
      .where(namesThem(person, sql<string>`cells::text`))
      .execute()
  },
}

async function forgetReviews(ctx: Context, person: Forgotten): Promise<void> {
  const reviews = await ctx.db
    .updateTable('product_reviews')
    .set({
      ...unknown,
      customer_name: someone(ctx.store.locale),
      title: withoutThem(person, 'title'),
      text: withoutThem(person, 'text'),
      reply_text: withoutThem(person, 'reply_text'),
      rejection_reason: withoutThem(person, 'rejection_reason'),
      updated_at: ctx.now(),
    })
    .where(isTheirs(person, columns))
    .returning(['id', 'product_name', 'title', 'text', 'customer_name'])
    .execute()
  for (const { id, product_name, title, text, customer_name } of reviews) {
    await ctx.db
      .updateTable('product_reviews')
      .set({ search_text: searchText([customer_name, title, text, product_name]), updated_at: ctx.now() })
      .where('id', '=', id)
      .execute()
  }
}

/** Of their requests, and those of before, which another has come after. */
async function messagesOf(ctx: Context, person: Forgotten): Promise<string[]> {
  const rows = await ctx.db
    .selectFrom('review_messages')
    .select('id')
    .where(isTheirs(person, { email: 'email', phone: 'phone', order: 'order_id' }))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Reviews that came of the orders of a shop that left, and what was asked after them. */
export async function forgetShop(ctx: Context): Promise<void> {
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
  const person: Forgotten = {
    ...{ customerId: null, emailKeys: [], phoneKeys: [], names: [] },
    orderIds: rows.map((row) => row.order_id),
  }
  await forgetsReviewers.stop!(ctx, person)
  await forgetsReviewers.forget(ctx, person)
}
