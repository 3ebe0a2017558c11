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

/** A recurring payment agreement at the provider; our API returns it as PreApproval. Instants are ISO 8601. */
export interface Agreement {
  id: string
  provider: string
  status: 'pending' | 'authorized' | 'paused' | 'cancelled'
  /** The text on the payer's statement: `Growth, monthly`. */
  reason: string
  /** Null when the provider does not return it. */
  payerEmail: string | null
  amount: string
  currency: string
  /** Months between charges: 1 or 12. */
  frequency: number
  frequencyType: 'months'
  startsAt: string | null
  nextPaymentAt: string | null
  paymentMethod: CardSummary | null
  /** Set while the agreement is `pending`, otherwise null. */
  checkoutUrl: string | null
}

/** A payment at the provider. */
export interface ProviderPayment {
  id: string
  /** Null for a payment outside an agreement. */
  agreementId: string | null
  /** Id of our checkout if this is its first payment, otherwise null. */
  checkoutId: string | null
  /** The key passed to `chargeNow`; null for other payments. */
  idempotencyKey: string | null
  status: 'pending' | 'approved' | 'rejected' | 'refunded' | 'charged-back'
  amount: string
  /** The refunded part of an approved payment; left out if nothing was refunded. */
  refundedAmount?: string
  /** True if the payment was charged back and the dispute was decided against the payer: it is approved again. */
  isDisputeWon?: boolean
  currency: string
  /** When a recurring charge was due; the same for all its attempts. */
  dueAt: string | null
  /** Counted from 1. */
  attempt: number
  failureReason: string | null
  paymentMethod: CardSummary | null
  receiptUrl: string | null
  createdAt: string
  /** Last change at the provider, used so that an older version never overwrites a newer one. */
  updatedAt: string
}

export interface Coupon {
  code: string
  percentOff: number | null
  /** An amount in `currency`; null for a percentage. */
  amountOff: string | null
  currency: string | null
  /** Number of charges that the coupon applies to; null: no limit. */
  durationCycles: number | null
  /** The plans that the coupon applies to; null: every plan. */
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
   * Amount of every later charge. The adapter does not change it when a coupon runs out. An adapter that supports only one
   * amount creates the agreement with `firstAmount`. The caller must compare `agreement.amount` of the event with the next
   * charge and update the agreement if they differ.
   */
  amount: string
  currency: string
  /** When the first recurring charge is due. Default: one cycle after the payment. Later charges count from this time. */
  startsAt?: string
  payerEmail: string
  /** The coupon's code, for display. */
  coupon?: string
  /** Return address of the payer; the adapter adds the parameters that identify the checkout. */
  returnUrl: string
  idempotencyKey: string
}

/**
 * An event of `parseWebhook`; an adapter returns each event once. Kinds: `checkout` (approved, rejected), `agreement` (its
 * status changed), `payment` (made, failed, refunded in full or in part, charged back, won back). `storeRef` is our store's id. `data`
 * holds the complete agreement, and the payment if any, as of `occurredAt`: no further call to the provider is needed.
 *
 * The payment of a checkout, even a rejected payment, is part of the `checkout` event and has no `payment` event. Its later
 * refund or chargeback is a `payment` event. The event of a saved card (`card-update`) holds the agreement with the new
 * card. If a charge had failed before, the provider retries it at once, and the event holds that payment too.
 */
export type BillingEvent = ProviderEvent & {
  kind: 'checkout' | 'agreement' | 'payment'
  data: BillingEventData
}
export interface BillingEventData {
  agreementId: string | null
  /** Our checkout id, as passed to `createCheckout` or `createCardUpdate`. */
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
    /** Whether a checkout may charge `firstAmount` now and begin at `startsAt`. If false, that combination is refused. */
    startsLater: boolean
  }
  /** Checks the provider's account and this server's settings for billing; changes nothing. */
  check(): Promise<Precondition[]>
  /**
   * Opens a checkout page. `providerCheckoutId` is the id of the agreement, which is `pending` until it is paid. Methods
   * that take an agreement id accept it.
   */
  createCheckout(q: CheckoutRequest): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }>
  /** Also succeeds for a closed checkout. Call it after a rejection too, because providers keep retrying the card. */
  cancelCheckout(id: string): Promise<void>
  /** Reads the `providerCheckoutId` from the query of the return address; null if there is none. */
  parseReturn(query: URLSearchParams): string | null
  /**
   * Events of a checkout or agreement since an instant, for the return page and for reconciliation. They have the same keys
   * as in webhooks. Empty while nothing has happened. May miss a refund of a payment made before `since`: to find such a
   * refund, pass the time of the payment.
   */
  listEvents(id: string, q: { since: Date }): Promise<BillingEvent[]>
  getAgreement(id: string): Promise<Agreement>
  /** Changes amount and reason. The frequency of an agreement cannot change. */
  updateAgreement(
    id: string,
    q: { amount: string; reason: string; idempotencyKey: string },
  ): Promise<Agreement>
  /** Idempotent. */
  pauseAgreement(id: string): Promise<void>
  /** Idempotent. */
  cancelAgreement(id: string): Promise<void>
  /** Charges the saved card once for each `idempotencyKey`. A declined card is returned as `rejected`, not thrown. */
  chargeNow(
    id: string,
    q: { amount: string; currency: string; reason: string; idempotencyKey: string },
  ): Promise<{ paymentId: string; status: 'approved' | 'rejected'; failureReason: string | null }>
  /**
   * Opens a card-update page and closes the agreement's earlier page. Pass `providerCheckoutId` to `cancelCheckout` and
   * `listEvents`.
   */
  createCardUpdate(
    id: string,
    q: { checkoutId: string; returnUrl: string },
  ): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }>
  /** Payments of an agreement made or changed since `since`, oldest first. */
  listPayments(id: string, q: { since: Date }): Promise<ProviderPayment[]>
  /**
   * Refunds a payment in full. Throws `Refused` with `not-found` or `not-refundable` if the refusal is final; after any
   * other refusal the call may be retried with another key.
   */
  refund(paymentId: string, q: { idempotencyKey: string }): Promise<void>
  /** Finds a coupon by its code, ignoring case; null when there is none. */
  findCoupon(code: string): Promise<Coupon | null>
  /**
   * Parses a webhook. Throws `Refused` with `bad-signature` or `bad-body`, and `Unavailable` if a needed call to the
   * provider fails.
   */
  parseWebhook(headers: Headers, rawBody: Uint8Array): BillingEvent[] | Promise<BillingEvent[]>
}
