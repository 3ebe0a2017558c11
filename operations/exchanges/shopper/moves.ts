/** What shoppers do through the link of their request. */
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { byTheShopper, note } from '../requests/history.ts'
import { lockRequest, move, noRequest, type RequestRow } from '../requests/moves.ts'
import type { Shipped } from './schema.ts'
import { requestOfToken } from './status-links.ts'

/** Refuses (404) a link that leads to none. */
async function lockByToken(tx: Context, token: string): Promise<RequestRow> {
  const requestId = await requestOfToken(tx, token)
  if (requestId === null) throw refuse('not_found', noRequest)
  return lockRequest(tx, requestId)
}

/** The items have left: `in-transit`; on the way a code can be corrected. Refuses (409) any other status. */
export const shipRequest = (ctx: Context, token: string, given: Shipped): Promise<void> =>
  ctx.transaction(async (tx) => {
    const request = await lockByToken(tx, token)
    const actor = byTheShopper(request)
    const values = { tracking_code: given.trackingCode, carrier: given.carrier ?? request.carrier }
    if (request.status !== 'in-transit') {
      await move(tx, request, 'ship', { actor, values })
      return
    }
    if (values.tracking_code === request.tracking_code && values.carrier === request.carrier) return
    await tx.db
      .updateTable('exchange_requests')
      .set({ ...values, updated_at: tx.now() })
      .where('id', '=', request.id)
      .execute()
    await note(tx, request.id, {
      event: 'shipped',
      actor,
      fromStatus: 'in-transit',
      toStatus: 'in-transit',
      note: 'The tracking code was corrected',
    })
  })

/** Its units are free again. Refuses (409) one that has left already. */
export const cancelRequest = (ctx: Context, token: string): Promise<void> =>
  ctx.transaction(async (tx) => {
    const request = await lockByToken(tx, token)
    await move(tx, request, 'cancel', { actor: byTheShopper(request) })
  })
