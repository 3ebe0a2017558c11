/** What the provider reports of campaign messages, applied in bulk. */
import type { sending } from '#operations/messaging/lib/door'
import type { Context } from '#runtime/context'

/** In the transaction that applies the events. */
export async function applyStatuses(_ctx: Context, _statuses: sending.DeliveryStatus[]): Promise<void> {
  throw new Error('being written')
}
