/** What became of a subscription at Mercado Pago, as the port's events; each state has a key of its own. */
import { isId } from '#runtime/values/ids'
import {
  type AuthorizedPayment,
  agreementOf,
  cardOf,
  type Payment,
  type Preapproval,
  paymentOf,
} from './mercado-pago-objects.ts'
import type { BillingEvent, BillingEventData, ProviderPayment } from './port.ts'

/** Whose subscription it is, as its `external_reference` carries it. */
export interface Reference {
  storeId: string
  checkoutId: string
  /** Approved with the card alone: the first charge comes later. */
  isDeferred: boolean
}

export const referenceText = ({ storeId, checkoutId, isDeferred }: Reference): string =>
  `${storeId}:${checkoutId}${isDeferred ? ':later' : ''}`

/** Null of a subscription that is not ours: the account may sell other things. */
export function referenceOf(external: string | null): Reference | null {
  const [storeId = '', checkoutId = '', later, ...rest] = (external ?? '').split(':')
  if (!isId(storeId) || !isId(checkoutId) || rest.length > 0) return null
  return { storeId, checkoutId, isDeferred: later === 'later' }
}

export interface Charge {
  invoice: AuthorizedPayment
  payment: Payment
  /** Of the first invoice. */
  isFirst: boolean
}

/** The events of a subscription, its charges oldest first. */
export function eventsOfSubscription(from: Preapproval, charges: readonly Charge[]): BillingEvent[] {
  const reference = referenceOf(from.external_reference)
  if (!reference) return []
  const { storeId, checkoutId, isDeferred } = reference
  const lastCard = charges.map(({ payment }) => cardOf(payment)).findLast((card) => card !== null) ?? null
  const agreement = agreementOf(from, lastCard)
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
    for (const payment of statesOf(charge, isOfCheckout ? checkoutId : null)) {
      const outcome = isOfCheckout ? outcomeOf(payment) : null
      if (outcome !== null) {
        const told = { checkoutId, outcome, payment }
        events.push(event('checkout', `${from.id}:${outcome}`, payment.updatedAt, told))
      } else {
        const told = { checkoutId: payment.checkoutId, payment }
        events.push(event('payment', `${payment.id}:${stateOf(payment)}`, payment.updatedAt, told))
      }
    }
  }
  if (agreement.status === 'paused' || agreement.status === 'cancelled') {
    const key = `${from.id}:${agreement.status}${agreement.status === 'paused' ? `:${changedAt}` : ''}`
    events.push(event('agreement', key, changedAt, {}))
  }
  const approvedAt = events.findLast((each) => each.data.outcome === 'approved')?.occurredAt
  // Changed since it was paid for: a payer may have paused it, and let it go on.
  if (agreement.status === 'authorized' && approvedAt !== undefined && changedAt > approvedAt) {
    events.push(event('agreement', `${from.id}:authorized:${changedAt}`, changedAt, {}))
  }
  return events
}

const partOf = ({ status, refundedAmount = '0.00' }: ProviderPayment): string | null =>
  status === 'approved' && Number(refundedAmount) > 0 ? refundedAmount : null

/** Each further part that went back is a state of its own. */
const stateOf = (payment: ProviderPayment): string => {
  const part = partOf(payment)
  return part === null ? payment.status : `refunded:${part}`
}

function outcomeOf(payment: ProviderPayment): 'approved' | 'rejected' | null {
  const state = stateOf(payment)
  return state === 'approved' || state === 'rejected' ? state : null
}

/** What a payment was and is: one that went back, or a part of it, had been approved. Open ones are not told. */
function statesOf({ payment, invoice }: Charge, checkoutId: string | null): ProviderPayment[] {
  const now = paymentOf(payment, invoice, checkoutId)
  if (now.status === 'pending') return []
  const approvedAt = payment.date_approved
  const approved = { ...now, status: 'approved' as const, refundedAmount: '0.00' }
  if (now.status === 'approved' && partOf(now) === null)
    return [{ ...approved, updatedAt: approvedAt ?? now.updatedAt }]
  if (now.status === 'rejected' || (!approvedAt && partOf(now) === null)) return [now]
  return [{ ...approved, updatedAt: approvedAt ?? now.createdAt }, now]
}
