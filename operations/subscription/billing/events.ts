/**
 * Applies events of the billing provider under the lock of the subscription. Events may come twice, late and out of order:
 * an event older than the stored state is ignored.
 */

import type { events } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { billingReconcile } from '../handles.ts'
import type { BillingEvent, BillingEventData } from '../provider/port.ts'
import { lockRow } from '../rows.ts'
import { applyAgreement } from './agreements.ts'
import { applyCheckout, type ReceivedEvent } from './apply.ts'
import { applyPayment } from './apply-payment.ts'

/** Runs in the caller's transaction. */
export async function applyBillingEvent(
  tx: Context,
  kind: BillingEvent['kind'],
  event: Pick<events.StoredEvent, 'provider' | 'occurredAt' | 'data'>,
): Promise<void> {
  const { provider, occurredAt } = event
  const received: ReceivedEvent = { provider, occurredAt, data: event.data as BillingEventData }
  const row = await lockRow(tx)
  if (kind === 'checkout') await applyCheckout(tx, row, received)
  else if (kind === 'payment') await applyPayment(tx, row, received)
  else await applyAgreement(tx, row, received)
}

/** Builds the listener for a kind of event. It receives events oldest first and returns the ids to redeliver later. */
export const buildListener =
  (kind: BillingEvent['kind']) =>
  async (tx: Context, received: events.StoredEvent[]): Promise<readonly string[]> => {
    const early: string[] = []
    for (const event of received) {
      if (kind === 'payment' && (await isTooEarly(tx, event))) early.push(event.id)
      else await applyBillingEvent(tx, kind, event)
    }
    // Reconciliation fetches the result of the checkout, so that the redelivered payment finds it applied.
    if (early.length > 0) await tx.queue(billingReconcile, {})
    return early
  }

const maxWaitMs = hourMs

/** Whether a payment arrived before the event of its checkout. Applied now, the payment would be refunded as unknown. */
async function isTooEarly(tx: Context, { provider, receivedAt, data }: events.StoredEvent): Promise<boolean> {
  const { payment } = data as BillingEventData
  if (!payment?.agreementId || payment.checkoutId !== null || payment.status !== 'approved') return false
  if (tx.now().getTime() - receivedAt.getTime() >= maxWaitMs) return false
  const page = await tx.db
    .selectFrom('checkouts')
    .select('id')
    .where('provider', '=', provider)
    .where('provider_checkout_id', '=', payment.agreementId)
    .where('status', 'in', ['open', 'expired'])
    .executeTakeFirst()
  return page !== undefined
}
