/** The export of requests: as the list filters them, newest first, a row for each item. */
import { sql } from 'kysely'
import { type exports, isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { ItemRow } from '../requests/items.ts'
import { fitting, type PreparedFilters, preparedFilters } from '../requests/requests.ts'
import type { RequestFilters } from '../requests/schema.ts'

/** Requests, each with up to 50 items. */
const atOnce = 200

export const requestsExport: exports.ExportSource = {
  title: 'Exchanges and returns',
  columns: () => [
    'number',
    'type',
    'status',
    'requested_at',
    'order',
    'customer',
    'email',
    'phone',
    'sku',
    'product',
    'variant',
    'quantity',
    'approved',
    'received',
    'reason',
    'comment',
    'unit_price',
    'currency',
    'exchange_for',
    'refund_method',
    'refund_amount',
    'tracking_code',
    'completed_at',
    'rejection_reason',
  ],
  async *rows(ctx, query) {
    const filters = preparedFilters(ctx, query as RequestFilters)
    for (let after: Place | null = null; ; ) {
      const requests: Exported[] = await pageAfter(ctx, filters, after)
      const last = requests.at(-1)
      if (!last) return
      const items = await itemsOfAll(
        ctx,
        requests.map(({ id }) => id),
      )
      yield requests.flatMap((request) =>
        (items.get(request.id) ?? []).map((item, at) => rowOf(request, item, at === 0)),
      )
      after = { at: last.at, id: last.id }
    }
  },
}

interface Place {
  /** With microseconds, which a Date has not. */
  at: string
  id: string
}

type Exported = Awaited<ReturnType<typeof pageAfter>>[number]

function pageAfter(ctx: Context, filters: PreparedFilters, after: Place | null) {
  let rows = fitting(
    ctx.db.selectFrom('exchange_requests as r'),
    filters,
    (name) => filters[name] !== undefined,
  )
  if (after) {
    rows = rows.where(sql<boolean>`(r.created_at, r.id) < (${after.at}::timestamptz, ${after.id}::uuid)`)
  }
  return rows
    .select([
      'r.id',
      sql<string>`r.created_at::text`.as('at'),
      'r.number',
      'r.type',
      'r.status',
      'r.created_at',
      'r.order_number',
      'r.customer_name',
      'r.customer_email',
      'r.customer_phone',
      'r.comment',
      'r.currency',
      'r.refund_method',
      'r.refund_amount',
      'r.tracking_code',
      'r.completed_at',
      'r.rejection_reason',
    ])
    .orderBy('r.created_at', 'desc')
    .orderBy('r.id', 'desc')
    .limit(atOnce)
    .execute()
}

async function itemsOfAll(ctx: Context, ids: readonly string[]): Promise<Map<string, ItemRow[]>> {
  const items = await ctx.db
    .selectFrom('exchange_items')
    .selectAll()
    .where(isAmong('request_id', ids, 'uuid'))
    .orderBy('position')
    .execute()
  return Map.groupBy(items, (item) => item.request_id)
}

/** What is of the request as a whole stands in the first of its rows alone: a column's sum is right. */
const rowOf = (request: Exported, item: ItemRow, isFirst: boolean): exports.Cell[] => [
  request.number,
  request.type,
  request.status,
  request.created_at,
  request.order_number,
  request.customer_name,
  request.customer_email,
  request.customer_phone,
  item.sku,
  item.name,
  item.variant_name,
  item.quantity,
  item.approved_quantity,
  item.received_quantity,
  item.reason_label,
  item.comment ?? request.comment,
  item.unit_price,
  request.currency,
  wantedOf(item),
  request.refund_method,
  isFirst ? request.refund_amount : null,
  request.tracking_code,
  request.completed_at,
  request.rejection_reason,
]

function wantedOf({ exchange_for: wanted }: ItemRow): string | null {
  if (wanted === null) return null
  const { name, variantName } = wanted as { name: string; variantName: string | null }
  return variantName ? `${name}, ${variantName}` : name
}
