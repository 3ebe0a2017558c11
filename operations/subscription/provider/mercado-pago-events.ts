/** Maps the state of a Mercado Pago subscription to events of the billing port. Each state has its own event key. */
import { isId } from '#runtime/values/ids'
import {
  type AuthorizedPayment,
  type Payment,
  type Preapproval,
  toAgreement,
  toCard,
  toPayment,
} from './mercado-pago-objects.ts'
import type { BillingEvent, BillingEventData, ProviderPayment } from './port.ts'

/** The store and checkout of a subscription, sent to Mercado Pago as `external_reference`. */
export interface Reference {
  storeId: string
  checkoutId: string
  /** True if authorizing the card already approves the checkout; the first charge comes later. */
  isDeferred: boolean
}

export const formatReference = ({ storeId, checkoutId, isDeferred }: Reference): string =>
  `${storeId}:${checkoutId}${isDeferred ? ':later' : ''}`

/** Returns null for a subscription that this server did not create: the seller's account may have others. */
export function parseReference(external: string | null): Reference | null {
  const [storeId = '', checkoutId = '', later, ...rest] = (external ?? '').split(':')
  if (!isId(storeId) || !isId(checkoutId) || rest.length > 0) return null
  return { storeId, checkoutId, isDeferred: later === 'later' }
}

export interface Charge {
  invoice: AuthorizedPayment
  payment: Payment
  /** Whether the charge belongs to the subscription's first invoice. */
  isFirst: boolean
}

/** Builds the events of a subscription. `charges` are sorted oldest first. */
export function buildEvents(from: Preapproval, charges: readonly Charge[]): BillingEvent[] {
  const reference = parseReference(from.external_reference)
  if (!reference) return []
  const { storeId, checkoutId, isDeferred } = reference
  const lastCard = charges.map(({ payment }) => toCard(payment)).findLast((card) => card !== null) ?? null
  const agreement = toAgreement(from, lastCard)
  const changedAt = from.last_modified ?? from.date_created
  const event = (
    kind: BillingEvent['kind'],
    key: string,
    occurredAt: string,
    data: Partial<BillingEventData>,
  ): BillingEvent => ({
    key,
    kind,
    occurredAt,
    storeRef: storeId,
    data: {
      agreementId: from.id,
      checkoutId: null,
      paymentId: data.payment?.id ?? null,
      outcome: null,
      failureReason: data.payment?.failureReason ?? null,
      payment: null,
      agreement,
      ...data,
    },
  })

  const events: BillingEvent[] = []
  if (isDeferred && ['authorized', 'paused'].includes(from.status)) {
    events.push(event('checkout', `${from.id}:approved`, changedAt, { checkoutId, outcome: 'approved' }))
  }
  for (const charge of charges) {
    const isOfCheckout = charge.isFirst && !isDeferred
    for (const payment of listStates(charge, isOfCheckout ? checkoutId : null)) {
      const outcome = isOfCheckout ? getOutcome(payment) : null
      if (outcome !== null) {
        const data = { checkoutId, outcome, payment }
        events.push(event('checkout', `${from.id}:${outcome}`, payment.updatedAt, data))
      } else {
        const data = { checkoutId: payment.checkoutId, payment }
        events.push(event('payment', `${payment.id}:${getState(payment)}`, payment.updatedAt, data))
      }
    }
  }
  if (agreement.status === 'paused' || agreement.status === 'cancelled') {
    const key = `${from.id}:${agreement.status}${agreement.status === 'paused' ? `:${changedAt}` : ''}`
    events.push(event('agreement', key, changedAt, {}))
  }
  const approvedAt = events.findLast((each) => each.data.outcome === 'approved')?.occurredAt
  // The agreement changed after it was paid: the payer may have paused and resumed it.
  if (agreement.status === 'authorized' && approvedAt !== undefined && changedAt > approvedAt) {
    events.push(event('agreement', `${from.id}:authorized:${changedAt}`, changedAt, {}))
  }
  return events
}

const getPartialRefund = ({ status, refundedAmount = '0.00' }: ProviderPayment): string | null =>
  status === 'approved' && Number(refundedAmount) > 0 ? refundedAmount : null

/** The state of a payment for its event key. Each further partial refund is a separate state, and so is a won dispute. */
const getState = (payment: ProviderPayment): string => {
  if (payment.isDisputeWon) return 'dispute-won'
  const part = getPartialRefund(payment)
  return part === null ? payment.status : `refunded:${part}`
}

function getOutcome(payment: ProviderPayment): 'approved' | 'rejected' | null {
  const state = getState(payment)
  return state === 'approved' || state === 'rejected' ? state : null
}

/**
 * Past and present states of a payment. A payment that was refunded in full or in part, charged back or won back was
 * approved before, so it has two states. A pending payment has none.
 */
function listStates({ payment, invoice }: Charge, checkoutId: string | null): ProviderPayment[] {
  const now = toPayment(payment, invoice, checkoutId)
  if (now.status === 'pending') return []
  const approvedAt = payment.date_approved
  const { isDisputeWon, ...before } = now
  const approved = { ...before, status: 'approved' as const, refundedAmount: '0.00' }
  if (now.status === 'approved' && getPartialRefund(now) === null && !isDisputeWon)
    return [{ ...approved, updatedAt: approvedAt ?? now.updatedAt }]
  if (now.status === 'rejected' || (!approvedAt && getPartialRefund(now) === null)) return [now]
  return [{ ...approved, updatedAt: approvedAt ?? now.createdAt }, now]
}
