/** Requests for reviews: a page of them, and cancelling those that wait. */
import { type RawBuilder, sql } from 'kysely'
import { isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type GivenDays, givenDays, isWithinDays } from '#runtime/database/days'
import { instantOf, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { phoneLike, type Sought, sought } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import type { z } from '#runtime/schema'
import { given } from '#runtime/values/changes'
import { plainForm } from '#runtime/values/plain-form'
import type { ItemResult } from '../bulk-schema.ts'
import type { dispatchListQuery, dispatchTargets } from './schema.ts'

const dispatchJson = (row: string): RawBuilder<unknown> =>
  jsonObject({
    id: `${row}.id`,
    orderId: `${row}.order_id`,
    orderNumber: `${row}.order_number`,
    orderItemId: `${row}.order_item_id`,
    productId: `${row}.product_id`,
    productName: `${row}.product_name`,
    variantId: `${row}.variant_id`,
    customerName: `${row}.customer_name`,
    customerEmail: `${row}.customer_email`,
    customerPhone: `${row}.customer_phone`,
    channel: `${row}.channel`,
    status: `${row}.status`,
    reason: `${row}.reason`,
    scheduledAt: instantOf(`${row}.scheduled_at`),
    sentAt: instantOf(`${row}.sent_at`),
    nextReminderAt: instantOf(`${row}.next_reminder_at`),
    remindersSent: `${row}.reminders_sent`,
    reviewId: `${row}.review_id`,
    createdAt: instantOf(`${row}.created_at`),
    updatedAt: instantOf(`${row}.updated_at`),
  })

interface Filters extends Sought, GivenDays {
  /** One, as most ask: the index then has them in their order. */
  status?: string | undefined
  statuses?: readonly string[] | undefined
  channel?: string | undefined
}

const page = preparedList<Filters>(
  (db, values, has) => {
    let rows = db.selectFrom('review_dispatches as d')
    if (has('status')) rows = rows.where('d.status', '=', values.status!)
    if (has('statuses')) rows = rows.where(sql<boolean>`d.status = any(${values.statuses}::text[])`)
    if (has('channel')) rows = rows.where('d.channel', '=', values.channel!)
    if (has('search')) {
      const byDigits = has('digits') ? sql`or ${phoneLike('d.search_text', values.digits)}` : sql``
      rows = rows.where(sql<boolean>`(d.search_text like ${values.search}::text ${byDigits})`)
    }
    if (has('startDate')) rows = rows.where(isWithinDays('d.scheduled_at', values))
    return {
      rows,
      item: dispatchJson('d'),
      order: [
        ['d.scheduled_at', 'asc'],
        ['d.id', 'asc'],
      ],
      page: 'd',
      table: 'review_dispatches',
    }
  },
  { text: ['search'] },
)

/** By their time, soonest first. Refuses days that are turned around. */
export function listDispatches(
  ctx: Context,
  { page: number, limit, status, channel, search, startDate, endDate }: z.infer<typeof dispatchListQuery>,
): Promise<JsonText> {
  const statuses = status.includes('all') ? [] : [...new Set(status)]
  return page(ctx, {
    page: number,
    limit,
    ...(statuses.length === 1 ? { status: statuses[0] } : {}),
    ...(statuses.length > 1 ? { statuses } : {}),
    ...given({ channel }),
    ...sought(ctx, search, plainForm),
    ...givenDays(ctx, { startDate, endDate }),
  })
}

export type Targets = z.infer<typeof dispatchTargets>

/** The ids that are meant, each once; null for every scheduled one. Refuses both at once, and neither. */
export function targetsOf({ ids, all }: Targets): string[] | null {
  if ((ids === undefined) === (all === undefined)) {
    throw refuse('bad_request', 'ids: give either ids, or all as true')
  }
  return ids ? [...new Set(ids.map((id) => id.toLowerCase()))] : null
}

/** Those that wait never leave; the item is never asked about again. Others tell why not. */
export async function cancelDispatches(
  ctx: Context,
  targets: Targets,
): Promise<{ cancelled: number; failed: number; data: ItemResult[] }> {
  const ids = targetsOf(targets)
  const known = ids ? await lockDispatches(ctx, ids) : new Map<string, string>()
  let rows = ctx.db
    .updateTable('review_dispatches')
    .set({ status: 'cancelled', updated_at: ctx.now() })
    .where('status', '=', 'scheduled')
  if (ids) rows = rows.where(isAmong('id', [...known.keys()], 'uuid'))
  else {
    const waiting = ctx.db
      .selectFrom('review_dispatches')
      .select('id')
      .where('status', '=', 'scheduled')
      .orderBy('id')
      .forUpdate()
    rows = rows.where('id', 'in', waiting)
  }
  const moved = new Set((await rows.returning('id').execute()).map((row) => row.id))
  const data = (ids ?? []).map((id): ItemResult => {
    if (moved.has(id)) return { id, ok: true, status: 'cancelled', error: null }
    return resultOf(id, known.get(id), 'only scheduled ones can be cancelled')
  })
  return { cancelled: moved.size, failed: ids ? ids.length - moved.size : 0, data }
}

/** `rule`: the rest of the sentence for one whose status does not allow it. */
export function resultOf(id: string, status: string | undefined, rule: string): ItemResult {
  if (status === undefined) {
    return { id, ok: false, status: null, error: { code: 'not_found', message: 'There is no such request' } }
  }
  return { id, ok: false, status, error: { code: 'conflict', message: `The request is ${status}: ${rule}` } }
}

/** In one order, so that two who move the same ones wait for each other. Answers the status of each. */
async function lockDispatches(ctx: Context, ids: readonly string[]): Promise<Map<string, string>> {
  const rows = await ctx.db
    .selectFrom('review_dispatches')
    .select(['id', 'status'])
    .where(isAmong('id', ids, 'uuid'))
    .orderBy('id')
    .forUpdate()
    .execute()
  return new Map(rows.map((row) => [row.id, row.status]))
}
