/** The billing port: recurring agreements, their payments, cards and coupons. Money is a decimal string (`"224.10"`). */
import type { Precondition, ProviderEvent } from '#runtime/ports/provider'

/** The purpose of a checkout; the adapter shows it to the payer. */
export type CheckoutKind = 'subscribe' | 'update-plan' | 'resume' | 'card-update'
type BillingCycle = 'monthly' | 'yearly'

export interface CardSummary {
  /** `visa`, `mastercard`… */
  brand: string
  last4: string
  /** 1-12. */
  expMonth: number
  /** Four digits. */
  expYear: number
}

/** A recurring agreement at the provider; the API answers it as PreApproval. Instants are ISO 8601. */
export interface Agreement {
  id: string
  provider: string
  status: 'pending' | 'authorized' | 'paused' | 'cancelled'
  /** The text on the payer's statement: `Growth, monthly`. */
  reason: string
  /** Null when the provider does not answer it. */
  payerEmail: string | null
  amount: string
  currency: string
  /** Months between charges: 1 or 12. */
  frequency: number
  frequencyType: 'months'
  startsAt: string | null
  nextPaymentAt: string | null
  paymentMethod: CardSummary | null
  /** While `pending`. */
  checkoutUrl: string | null
}

/** A payment at the provider. */
export interface ProviderPayment {
  id: string
  /** Null for a payment outside an agreement. */
  agreementId: string | null
  /** Our checkout, when this is its first payment. */
  checkoutId: string | null
  /** The key passed to `chargeNow`, for a payment made by it. */
  idempotencyKey: string | null
  status: 'pending' | 'approved' | 'rejected' | 'refunded' | 'charged-back'
  amount: string
  /** Refunded part of an approved payment; left out: nothing. */
  refundedAmount?: string
  currency: string
  /** Due time of a recurring charge, shared by its attempts. */
  dueAt: string | null
  /** From 1. */
  attempt: number
  failureReason: string | null
  paymentMethod: CardSummary | null
  receiptUrl: string | null
  createdAt: string
  /** Last change at the provider; an older version never overwrites a newer one. */
  updatedAt: string
}

export interface Coupon {
  code: string
  percentOff: number | null
  /** With `currency`. */
  amountOff: string | null
  currency: string | null
  /** Number of charges it applies to; null: no limit. */
  durationCycles: number | null
  /** Null: every plan. */
  planIds: string[] | null
  billingCycles: BillingCycle[] | null
  startsAt: string | null
  expiresAt: string | null
  isExhausted: boolean
}

export interface CheckoutRequest {
  storeId: string
  checkoutId: string
  kind: CheckoutKind
  planId: string
  billingCycle: BillingCycle
  /** Due now, after coupon and credit; `"0.00"` when nothing is due. */
  firstAmount: string
  /**
   * Amount of every later charge; the adapter does not count coupons. An adapter that supports only one amount creates the
   * agreement with `firstAmount`: compare `agreement.amount` of the event with the next charge, and update it.
   */
  amount: string
  currency: string
  /** Time of the first recurring charge, if not one cycle after the payment; later charges count from it. */
  startsAt?: string
  payerEmail: string
  /** The coupon's code, for display. */
  coupon?: string
  /** Return address of the payer; the adapter adds the parameters that identify the checkout. */
  returnUrl: string
  idempotencyKey: string
}

/**
 * An event of `parseWebhook`, each answered once: `checkout` (approved, rejected), `agreement` (its status changed),
 * `payment` (made, failed, refunded in full or in part, charged back). `storeRef` is our store's id. `data` holds the
 * complete agreement, and the payment if any, as of `occurredAt`: no further call to the provider is needed.
 *
 * The payment of a checkout, also a rejected one, comes inside the `checkout` event and not as its own `payment` event;
 * its later refund or chargeback is a `payment` event. The event of a saved card (`card-update`) holds the agreement with
 * the new card and, if a charge had failed before, that charge: the provider retries it at once.
 */
export type BillingEvent = ProviderEvent & {
  kind: 'checkout' | 'agreement' | 'payment'
  data: BillingEventData
}
export interface BillingEventData {
  agreementId: string | null
  /** Our id, as passed to `createCheckout` or `createCardUpdate`. */
  checkoutId: string | null
  paymentId: string | null
  /** The result of a checkout. */
  outcome: 'approved' | 'rejected' | null
  failureReason: string | null
  payment: ProviderPayment | null
  agreement: Agreement | null
}

/**
 * Every method may throw `Refused` (a 4xx about the request; `not-found` for an id that the provider does not know),
 * `Throttled` or `Unavailable`.
 */
export interface BillingPort {
  readonly capabilities: {
    chargeNow: boolean
    cardUpdate: boolean
    pause: boolean
    /** A checkout may charge `firstAmount` now and begin at `startsAt`. Without it, the combination is refused. */
    startsLater: boolean
  }
  /** Checks the provider's account and this server's settings for billing; changes nothing. */
  check(): Promise<Precondition[]>
  /** `providerCheckoutId` is the id of the agreement, `pending` until paid; methods that take an agreement id take it. */
  createCheckout(q: CheckoutRequest): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }>
  /** Succeeds for a closed checkout. Call it after a rejection too: providers keep retrying the card. */
  cancelCheckout(id: string): Promise<void>
  /** Reads the `providerCheckoutId` from the query of the return address, or null. */
  parseReturn(query: URLSearchParams): string | null
  /**
   * Events of a checkout or agreement since an instant, with the same keys as in hooks: for the return page and for
   * reconciliation. Empty while nothing has happened. A later refund of a payment made before `since` may be missing: to
   * find it, start at the payment.
   */
  listEvents(id: string, q: { since: Date }): Promise<BillingEvent[]>
  getAgreement(id: string): Promise<Agreement>
  /** The frequency cannot change. */
  updateAgreement(
    id: string,
    q: { amount: string; reason: string; idempotencyKey: string },
  ): Promise<Agreement>
  /** Idempotent. */
  pauseAgreement(id: string): Promise<void>
  /** Idempotent. */
  cancelAgreement(id: string): Promise<void>
  /** Charges the saved card once for each `idempotencyKey`. A declined card is an answer, not an error. */
  chargeNow(
    id: string,
    q: { amount: string; currency: string; reason: string; idempotencyKey: string },
  ): Promise<{ paymentId: string; status: 'approved' | 'rejected'; failureReason: string | null }>
  /** A new page closes the agreement's earlier one. `providerCheckoutId`: for `cancelCheckout` and `listEvents`. */
  createCardUpdate(
    id: string,
    q: { checkoutId: string; returnUrl: string },
  ): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }>
  /** Payments made or changed since, oldest first. */
  listPayments(id: string, q: { since: Date }): Promise<ProviderPayment[]>
  /** Throws `not-found` or `not-refundable` when it is final; any other refusal may be retried under another key. */
  refund(paymentId: string, q: { idempotencyKey: string }): Promise<void>
  /** Case-insensitive; null when there is none. */
  findCoupon(code: string): Promise<Coupon | null>
  /** Throws `Refused` with `bad-signature` or `bad-body`; `Unavailable` when the provider must be called and fails. */
  parseWebhook(headers: Headers, rawBody: Uint8Array): BillingEvent[] | Promise<BillingEvent[]>
}
