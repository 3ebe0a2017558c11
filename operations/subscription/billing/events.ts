/**
 * What a billing provider told, applied: once under a lock on the subscription, passed over when older than what it
 * would change, safe twice, late and out of order.
 */
import type { events } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { BillingEvent, BillingEventData } from '#runtime/ports/billing/port'
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

/** What the wiring gives for a kind: events come oldest first. */
export const listenerOf =
  (kind: BillingEvent['kind']) =>
  async (tx: Context, told: events.StoredEvent[]): Promise<void> => {
    for (const event of told) await applyBillingEvent(tx, kind, event)
  }
