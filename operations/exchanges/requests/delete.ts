/** Deletes a request with everything that belongs to it. A completed request leaves a record of its used units (rule 4). */
import { sql } from 'kysely'
import { files, metering } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { listItems } from './items.ts'
import { getLabelOwner, getPhotosOwner } from './photos.ts'
import { lockRequest, type RequestRow } from './transitions.ts'
import { listPlaces } from './units.ts'

const activeStatuses: ReadonlySet<string> = new Set(['approved', 'in-transit', 'received'])

/** Deletes a request, in the caller's transaction. Refuses an unknown request (404) and an active one (409). */
export async function deleteRequest(ctx: Context, id: string): Promise<void> {
  const request = await lockRequest(ctx, id)
  if (activeStatuses.has(request.status)) {
    const remedy = request.status === 'in-transit' ? 'complete it' : 'reject or complete it'
    throw refuse('conflict', `It is ${request.status}: ${remedy} first`)
  }
  if (request.status === 'completed') await recordUsedUnits(ctx, request)
  await deleteNotices(ctx, id)
  await files.setUses(ctx, getPhotosOwner(id), [])
  await files.setUses(ctx, getLabelOwner(id), [])
  await ctx.db.deleteFrom('exchange_requests').where('id', '=', id).execute()
}

async function recordUsedUnits(ctx: Context, request: RequestRow): Promise<void> {
  const lines = new Map<string, { units: number[]; refunded: number }>()
  for (const item of await listItems(ctx, request.id)) {
    const units = listPlaces(item.line_units, item.approved_quantity ?? item.quantity)
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

/**
 * Deletes unsent notices. A notice that a provider may have received stays; its row is deleted when the outcome is
 * recorded.
 */
async function deleteNotices(ctx: Context, requestId: string): Promise<void> {
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
