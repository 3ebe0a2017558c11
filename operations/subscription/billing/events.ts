/**
 * What a billing provider told, applied: once under a lock on the subscription, passed over when older than what it
 * would change, safe twice, late and out of order.
 */

import type { events } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { billingReconcile } from '../handles.ts'
import type { BillingEvent, BillingEventData } from '../provider/port.ts'
import { lockRow } from '../rows.ts'
import { applyAgreement } from './agreements.ts'
import { applyCheckout, type Told } from './apply.ts'
import { applyPayment } from './apply-payment.ts'

/** In the caller's transaction. */
export async function applyBillingEvent(
  tx: Context,
  kind: BillingEvent['kind'],
  event: Pick<events.StoredEvent, 'provider' | 'occurredAt' | 'data'>,
): Promise<void> {
  const { provider, occurredAt } = event
  const told: Told = { provider, occurredAt, data: event.data as BillingEventData }
  const row = await lockRow(tx)
  if (kind === 'checkout') await applyCheckout(tx, row, told)
  else if (kind === 'payment') await applyPayment(tx, row, told)
  else await applyAgreement(tx, row, told)
}

/** What the wiring gives for a kind: events come oldest first. Answers those that are to come again. */
export const listenerOf =
  (kind: BillingEvent['kind']) =>
  async (tx: Context, told: events.StoredEvent[]): Promise<readonly string[]> => {
    const early: string[] = []
    for (const event of told) {
      if (kind === 'payment' && (await isEarly(tx, event))) early.push(event.id)
      else await applyBillingEvent(tx, kind, event)
    }
    // What became of its page is asked before the money is judged.
    if (early.length > 0) await tx.queue(billingReconcile, {})
    return early
  }

const waitsMs = hourMs

/** A charge of an agreement whose page was paid, as it seems, and nobody has told: it would go back as nobody's. */
async function isEarly(tx: Context, { provider, receivedAt, data }: events.StoredEvent): Promise<boolean> {
  const { payment } = data as BillingEventData
  if (!payment?.agreementId || payment.checkoutId !== null || payment.status !== 'approved') return false
  if (tx.now().getTime() - receivedAt.getTime() >= waitsMs) return false
  const page = await tx.db
    .selectFrom('checkouts')
    .select('id')
    .where('provider', '=', provider)
    .where('provider_checkout_id', '=', payment.agreementId)
    .where('status', 'in', ['open', 'expired'])
    .executeTakeFirst()
  return page !== undefined
}
