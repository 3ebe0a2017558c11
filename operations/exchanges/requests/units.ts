/** Units of an order that are reserved by requests, and the value of those requests. */
import { sql } from 'kysely'
import { amounts } from '#operations/store/index'
import type { Context } from '#runtime/context'

/** Statuses of a request that is not final. */
const openStatuses: readonly string[] = ['requested', 'approved', 'in-transit', 'received']

/** The order's open requests, oldest first. */
export const findOpenRequests = (ctx: Context, orderId: string) =>
  ctx.db
    .selectFrom('exchange_requests')
    .select(['number', 'type', 'status', 'created_at'])
    .where('order_id', '=', orderId)
    .where('status', 'in', openStatuses)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
export type OpenRequest = Awaited<ReturnType<typeof findOpenRequests>>[number]

/** Serializes requests for one order until the end of the transaction, so that no unit is reserved twice. */
export async function lockOrder(ctx: Context, orderId: string): Promise<void> {
  const name = `exchange-order:${ctx.store.id}:${orderId}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(ctx.db)
}

/**
 * Indexes within the order line of an item's first `units` units. `lineUnits` are the stored indexes; if null, the first
 * units of the line.
 */
export const listPlaces = (lineUnits: readonly number[] | null, units: number): number[] =>
  lineUnits === null ? Array.from({ length: units }, (_none, place) => place) : lineUnits.slice(0, units)

/** Units of one line that a request reserves. */
export interface LineReservation {
  isCompleted: boolean
  /** Indexes within the line. */
  units: readonly number[]
  /** Number of these units that the shopper has sent back or is expected to send back. */
  back: number
  /** Number of the line's units that were refunded at the platform before the request's last decision. */
  refundedBefore: number
}

/** The value of a request. */
export interface RequestValue {
  isCompleted: boolean
  amount: bigint
  /** Amount of the order that was refunded before the request's last decision, and not for this request. */
  refundedBefore: bigint
}

export interface OrderReservations {
  /** Reserved units by order item id. */
  lines: ReadonlyMap<string, readonly LineReservation[]>
  requests: readonly RequestValue[]
  hasOpenRequest: boolean
}

/**
 * Reads the units and values that requests reserve: the requested units, after a decision the approved units. Includes
 * completed requests that were deleted. A single statement, so that a request deleted concurrently is not counted twice.
 * `exceptRequestId` is the request that is being decided.
 */
export async function readReservations(
  ctx: Context,
  { id: orderId, currency }: { id: string; currency: string },
  exceptRequestId?: string,
): Promise<OrderReservations> {
  const rows = await ctx.db
    .selectFrom('exchange_requests as r')
    .innerJoin('exchange_items as i', 'i.request_id', 'r.id')
    .where('r.order_id', '=', orderId)
    .where('r.status', 'not in', ['rejected', 'cancelled', 'expired'])
    .$if(exceptRequestId !== undefined, (query) => query.where('r.id', '!=', exceptRequestId!))
    .select([
      'r.id',
      'r.status',
      'i.order_item_id',
      sql<number>`coalesce(i.approved_quantity, i.quantity)`.as('units'),
      sql<number>`coalesce(i.received_quantity, i.approved_quantity, i.quantity)`.as('back'),
      'i.line_units',
      'i.line_refunded',
      // The amount of a request is only on its first row, so that it counts once.
      sql<string>`case when i.position > 1 then 0 when r.status = 'completed'
        then coalesce(r.refund_amount, r.amount) else r.amount end::text`.as('amount'),
      sql<string>`r.order_refunded::text`.as('order_refunded'),
    ])
    .unionAll(
      ctx.db
        .selectFrom('exchange_used_units as u')
        .where('u.order_id', '=', orderId)
        .select([
          'u.request_id as id',
          sql<string>`'completed'`.as('status'),
          'u.order_item_id',
          'u.units',
          'u.units as back',
          'u.line_units',
          'u.line_refunded',
          sql<string>`u.amount::text`.as('amount'),
          sql<string>`u.order_refunded::text`.as('order_refunded'),
        ]),
    )
    .execute()
  const holds = rows.map((row) => ({
    orderItemId: row.order_item_id,
    isCompleted: row.status === 'completed',
    units: listPlaces(row.line_units, row.units),
    back: row.back,
    refundedBefore: row.line_refunded,
  }))
  const { toCents } = amounts.inCurrency(currency)
  return {
    lines: Map.groupBy(holds, ({ orderItemId }) => orderItemId),
    requests: [...Map.groupBy(rows, ({ id }) => id).values()].map((own) => ({
      isCompleted: own[0]!.status === 'completed',
      amount: amounts.sumCents(own.map(({ amount }) => toCents(amount))),
      refundedBefore: toCents(own[0]!.order_refunded),
    })),
    hasOpenRequest: rows.some(({ status }) => openStatuses.includes(status)),
  }
}
