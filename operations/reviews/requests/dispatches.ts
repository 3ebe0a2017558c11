/** Lists and cancels review requests. */
import { type RawBuilder, sql } from 'kysely'
import { isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { type DayFilter, isWithinDays, toDayFilter } from '#runtime/database/days'
import { isoInstant, jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { foldedLike, phoneLike, type SearchFilter, toSearchFilter } from '#runtime/database/search'
import { refuse } from '#runtime/errors'
import type { JsonText } from '#runtime/operation'
import type { z } from '#runtime/schema'
import { omitUndefined } from '#runtime/values/changes'
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
    scheduledAt: isoInstant(`${row}.scheduled_at`),
    sentAt: isoInstant(`${row}.sent_at`),
    nextReminderAt: isoInstant(`${row}.next_reminder_at`),
    remindersSent: `${row}.reminders_sent`,
    reviewId: `${row}.review_id`,
    createdAt: isoInstant(`${row}.created_at`),
    updatedAt: isoInstant(`${row}.updated_at`),
  })

interface Filters extends SearchFilter, DayFilter {
  /**
   * A single status, which is the common case. It has its own condition, so that an index returns the rows in list
   * order.
   */
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
      rows = rows.where(sql<boolean>`(${foldedLike(sql.ref('d.search_text'), values.search)} ${byDigits})`)
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

/** Lists requests by scheduled time, earliest first. Refuses a period that ends before it starts. */
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
    ...omitUndefined({ channel }),
    ...toSearchFilter(ctx, search),
    ...toDayFilter(ctx, { startDate, endDate }),
  })
}

export type Targets = z.infer<typeof dispatchTargets>

/**
 * Returns the distinct ids, or null for all scheduled requests. Refuses input with both `ids` and `all`, or with
 * neither.
 */
export function parseTargets({ ids, all }: Targets): string[] | null {
  if ((ids === undefined) === (all === undefined)) {
    throw refuse('bad_request', 'ids: give either ids, or all as true')
  }
  return ids ? [...new Set(ids.map((id) => id.toLowerCase()))] : null
}

/**
 * Cancels scheduled requests. No other request is planned for their items. The result has an error for each request
 * that is not scheduled.
 */
export async function cancelDispatches(
  ctx: Context,
  targets: Targets,
): Promise<{ cancelled: number; failed: number; data: ItemResult[] }> {
  const ids = parseTargets(targets)
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
    return toItemResult(id, known.get(id), 'only scheduled ones can be cancelled')
  })
  return { cancelled: moved.size, failed: ids ? ids.length - moved.size : 0, data }
}

/**
 * Builds the result for a request that the operation could not change. `rule` is the end of the error message: what the
 * operation requires.
 */
export function toItemResult(id: string, status: string | undefined, rule: string): ItemResult {
  if (status === undefined) {
    return { id, ok: false, status: null, error: { code: 'not_found', message: 'There is no such request' } }
  }
  return { id, ok: false, status, error: { code: 'conflict', message: `The request is ${status}: ${rule}` } }
}

/** Locks requests in the order of their ids to prevent deadlocks. Returns their statuses by id. */
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
