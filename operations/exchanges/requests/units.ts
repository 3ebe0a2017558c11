/** Units of an order that requests hold, and what those are worth. */
import { sql } from 'kysely'
import { amounts } from '#operations/store/door'
import type { Context } from '#runtime/context'

/** A request that still moves. */
const openStatuses: readonly string[] = ['requested', 'approved', 'in-transit', 'received']

/** Requests about one order take turns, to the end of the transaction: no unit is taken twice. */
export async function lockOrder(ctx: Context, orderId: string): Promise<void> {
  const name = `exchange-order:${ctx.store.id}:${orderId}`
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(ctx.db)
}

/** The first so many of an item's units; where it has none, of its line. */
export const placesOf = (lineUnits: readonly number[] | null, units: number): number[] =>
  lineUnits === null ? Array.from({ length: units }, (_none, place) => place) : lineUnits.slice(0, units)

/** What a request holds of one line. */
export interface Hold {
  isCompleted: boolean
  /** Places in the line. */
  units: readonly number[]
  /** Of these, those that came back, or will. */
  back: number
  /** Units of the line that the platform had refunded when it was requested. */
  refundedBefore: number
}

/** What a request is worth. */
export interface Worth {
  isCompleted: boolean
  amount: bigint
  /** Of the order, as `refundedBefore` of a line. */
  refundedBefore: bigint
}

export interface Held {
  /** By order item. */
  lines: ReadonlyMap<string, readonly Hold[]>
  requests: readonly Worth[]
  hasOpenRequest: boolean
}

/**
 * What the requests hold that hold their units (what was approved once that is decided), those of deleted ones that were
 * completed too; one statement, so that a deletion meanwhile counts once.
 */
export async function heldOf(ctx: Context, orderId: string): Promise<Held> {
  const rows = await ctx.db
    .selectFrom('exchange_requests as r')
    .innerJoin('exchange_items as i', 'i.request_id', 'r.id')
    .where('r.order_id', '=', orderId)
    .where('r.status', 'not in', ['rejected', 'cancelled', 'expired'])
    .select([
      'r.id',
      'r.status',
      'i.order_item_id',
      sql<number>`coalesce(i.approved_quantity, i.quantity)`.as('units'),
      sql<number>`coalesce(i.received_quantity, i.approved_quantity, i.quantity)`.as('back'),
      'i.line_units',
      'i.line_refunded',
      // On the first of its rows: it counts once.
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
    units: placesOf(row.line_units, row.units),
    back: row.back,
    refundedBefore: row.line_refunded,
  }))
  return {
    lines: Map.groupBy(holds, ({ orderItemId }) => orderItemId),
    requests: [...Map.groupBy(rows, ({ id }) => id).values()].map((own) => ({
      isCompleted: own[0]!.status === 'completed',
      amount: amounts.sumOf(own.map(({ amount }) => amounts.toCents(amount))),
      refundedBefore: amounts.toCents(own[0]!.order_refunded),
    })),
    hasOpenRequest: rows.some(({ status }) => openStatuses.includes(status)),
  }
}
