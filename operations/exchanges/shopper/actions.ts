/** The actions of a shopper through the status link of their request: enter a tracking code, or cancel. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { addHistoryEntry, toShopperActor } from '../requests/history.ts'
import { applyTransition, lockRequest, noRequest, type RequestRow } from '../requests/transitions.ts'
import type { Shipped } from './schema.ts'
import { findRequestByToken } from './status-links.ts'

/** Finds and locks the request of a status link. Refuses (404) an unknown token. */
async function lockByToken(tx: Context, token: string): Promise<RequestRow> {
  const requestId = await findRequestByToken(tx, token)
  if (requestId === null) throw refuse('not_found', noRequest)
  return lockRequest(tx, requestId)
}

/** Marks an approved request as sent (`in-transit`), or corrects the tracking code of a sent one. Refuses others (409). */
export const shipRequest = (ctx: Context, token: string, given: Shipped): Promise<void> =>
  ctx.transaction(async (tx) => {
    const request = await lockByToken(tx, token)
    const actor = toShopperActor(request)
    const values = { tracking_code: given.trackingCode, carrier: given.carrier ?? request.carrier }
    if (request.status !== 'in-transit') {
      await applyTransition(tx, request, 'ship', { actor, values })
      return
    }
    if (values.tracking_code === request.tracking_code && values.carrier === request.carrier) return
    await tx.db
      .updateTable('exchange_requests')
      .set({ ...values, updated_at: tx.now() })
      .where('id', '=', request.id)
      .execute()
    await addHistoryEntry(tx, request.id, {
      event: 'shipped',
      actor,
      fromStatus: 'in-transit',
      toStatus: 'in-transit',
      note: 'The tracking code was corrected',
    })
  })

/** Cancels the request and frees its units. Refuses (409) a request whose items were sent. */
export const cancelRequest = (ctx: Context, token: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const request = await lockByToken(tx, token)
    await applyTransition(tx, request, 'cancel', { actor: toShopperActor(request) })
  })
