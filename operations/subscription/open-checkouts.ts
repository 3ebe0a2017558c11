/** Closes open checkouts: in our database at once, at the provider by a background task. */
import type { Context } from '#runtime/context'
import { addTask } from './intents.ts'

/** Cancels open checkouts. `exceptCards` keeps card-update pages open. */
export async function closeOpenCheckouts(tx: Context, exceptCards = false): Promise<void> {
  const closed = await tx.db
    .updateTable('checkouts')
    .set({ status: 'cancelled', completed_at: tx.now(), updated_at: tx.now() })
    .where('status', '=', 'open')
    .$if(exceptCards, (query) => query.where('kind', '<>', 'card-update'))
    .returning(['provider', 'provider_checkout_id'])
    .execute()
  for (const { provider, provider_checkout_id: agreementId } of closed) {
    if (agreementId) await addTask(tx, { kind: 'close-checkout', provider, agreementId })
  }
}
