/** A request deleted: gone from everywhere, but for the units that a completed one used (rule 4). */
import { sql } from 'kysely'
import { files, metering } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { itemsOf } from './items.ts'
import { labelOwner } from './label.ts'
import { lockRequest, type RequestRow } from './moves.ts'
import { photosOwner } from './photos.ts'
import { placesOf } from './units.ts'

const underWay: ReadonlySet<string> = new Set(['approved', 'in-transit', 'received'])

/** In the caller's transaction. Refuses (404) an unknown one, (409) one that is under way. */
export async function deleteRequest(ctx: Context, id: string): Promise<void> {
  const request = await lockRequest(ctx, id)
  if (underWay.has(request.status)) {
    throw refuse('conflict', `It is ${request.status}: reject or complete it first`)
  }
  if (request.status === 'completed') await keepUnits(ctx, request)
  await dropNotices(ctx, id)
  await files.setUses(ctx, photosOwner(id), [])
  await files.setUses(ctx, labelOwner(id), [])
  await ctx.db.deleteFrom('exchange_requests').where('id', '=', id).execute()
}

async function keepUnits(ctx: Context, request: RequestRow): Promise<void> {
  const lines = new Map<string, { units: number[]; refunded: number }>()
  for (const item of await itemsOf(ctx, request.id)) {
    const units = placesOf(item.line_units, item.approved_quantity ?? item.quantity)
    if (units.length === 0) continue
    const known = lines.get(item.order_item_id)
    lines.set(item.order_item_id, {
      units: [...(known?.units ?? []), ...units],
      refunded: item.line_refunded,
    })
  }
  if (lines.size === 0) return
  await ctx.db
    .insertInto('exchange_used_units')
    .values(
      [...lines].map(([orderItemId, { units, refunded }], at) => ({
        order_id: request.order_id,
        order_item_id: orderItemId,
        request_id: request.id,
        units: units.length,
        line_units: sql<number[]>`${units}::integer[]`,
        line_refunded: refunded,
        order_refunded: request.order_refunded,
        amount: at === 0 ? (request.refund_amount ?? request.amount) : '0',
        created_at: ctx.now(),
      })),
    )
    .execute()
}

/** What may be with a provider now is left to its end, which takes its row away; nothing else leaves any more. */
async function dropNotices(ctx: Context, requestId: string): Promise<void> {
  const dropped = await ctx.db
    .deleteFrom('exchange_notices')
    .where('request_id', '=', requestId)
    .where((eb) => eb.or([eb('state', '<>', 'sending'), eb('called_at', 'is', null)]))
    .returning(['state', 'reservation_id'])
    .execute()
  for (const { state, reservation_id: reservationId } of dropped) {
    if (state === 'sending' && reservationId !== null) await metering.release(ctx, reservationId, 1)
  }
}
