/** The billing port: recurring agreements, their payments, cards and coupons. Money is a decimal string (`"224.10"`). */
import type { Finding, ProviderEvent } from '#runtime/ports/provider'

/** What a checkout is for; the adapter shows it to the payer. */
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

/** A recurring agreement as the provider has it; callers read it as PreApproval. Instants are ISO 8601. */
export interface Agreement {
  id: string
  provider: string
  status: 'pending' | 'authorized' | 'paused' | 'cancelled'
  /** What it says on the payer's statement: `Growth, monthly`. */
  reason: string
  /** Null where the provider does not tell it. */
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

/** A payment as the provider has it. */
export interface ProviderPayment {
  id: string
  /** Null for one that was made outside an agreement. */
  agreementId: string | null
  /** Our checkout, where it was the first payment of one. */
  checkoutId: string | null
  /** The key of `chargeNow`, where it was made by one. */
  idempotencyKey: string | null
  status: 'pending' | 'approved' | 'rejected' | 'refunded' | 'charged-back'
  amount: string
  /** What of an approved one went back to the payer by now; left out: nothing. */
  refundedAmount?: string
  currency: string
  /** Of a recurring charge: the instant it was due; its tries share it. */
  dueAt: string | null
  /** From 1. */
  attempt: number
  failureReason: string | null
  paymentMethod: CardSummary | null
  receiptUrl: string | null
  createdAt: string
  /** When the provider last changed it; an older one never undoes a newer. */
  updatedAt: string
}

export interface Coupon {
  code: string
  percentOff: number | null
  /** With `currency`. */
  amountOff: string | null
  currency: string | null
  /** Charges it holds for; null: for ever. */
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
  /** Due now, after coupon and credit; `"0.00"` where nothing is. */
  firstAmount: string
  /**
   * Of every later charge, as it is: the adapter counts no coupon's charges. An adapter that can only charge one amount
   * makes the agreement over the first; compare `agreement.amount` of the event with what comes next, and update it.
   */
  amount: string
  currency: string
  /** The first recurring charge, where it is not one cycle from the payment; later ones are counted from it. */
  startsAt?: string
  payerEmail: string
  /** Its code, to show. */
  coupon?: string
  /** Where the payer comes back to; the adapter adds what it needs to find the checkout. */
  returnUrl: string
  idempotencyKey: string
}

/**
 * What `parseWebhook` answers, each once: `checkout` (approved, rejected), `agreement` (its status changed),
 * `payment` (a charge was made, failed, was refunded, in part too, or charged back). `storeRef` is our store's id. `data` carries the
 * agreement, and the payment there is, whole, as they were at `occurredAt`: nothing has to be asked of the provider.
 *
 * The payment of a checkout comes inside its `checkout` event, also a rejected one, and not as a `payment` event of
 * its own; a later refund or chargeback of it does. Of a saved card (`card-update`) the event holds the agreement with
 * the new card, and the charge that had failed before where there was one: the provider tries it again at once.
 */
export type BillingEvent = ProviderEvent & {
  kind: 'checkout' | 'agreement' | 'payment'
  data: BillingEventData
}
export interface BillingEventData {
  agreementId: string | null
  /** Ours, as given to `createCheckout` or `createCardUpdate`. */
  checkoutId: string | null
  paymentId: string | null
  /** `approved`, `rejected` of a checkout. */
  outcome: 'approved' | 'rejected' | null
  failureReason: string | null
  payment: ProviderPayment | null
  agreement: Agreement | null
}

/**
 * Every method may throw `Refused` (a 4xx about the request; `not-found` of an id that the provider does not know),
 * `Throttled` or `Unavailable`.
 */
export interface BillingPort {
  readonly capabilities: {
    chargeNow: boolean
    cardUpdate: boolean
    pause: boolean
    /** A checkout may charge `firstAmount` now and begin at `startsAt`. Where not, both are refused. */
    startsLater: boolean
  }
  /** What billing needs of the account there, and of this server; changes nothing. */
  check(): Promise<Finding[]>
  /** `providerCheckoutId` is the id of the agreement it makes, `pending` until then: all that takes an agreement takes it. */
  createCheckout(q: CheckoutRequest): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }>
  /** What is closed already is success. To be called after a rejected one too: providers go on trying. */
  cancelCheckout(id: string): Promise<void>
  /** The `providerCheckoutId` of the payer who comes back with this query, or null. */
  checkoutOfReturn(query: URLSearchParams): string | null
  /**
   * What hooks have told, or will, of a checkout or agreement since, under the same keys: for the page that the payer
   * comes back to, and to find out what became of a call. Empty while nothing has happened. A payment that was made
   * before `since` may have gone back after it without being told here: who asks for that begins where it was made.
   */
  eventsOf(id: string, q: { since: Date }): Promise<BillingEvent[]>
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
  /** A new page closes the agreement's earlier one. `providerCheckoutId`: for `cancelCheckout` and `eventsOf`. */
  createCardUpdate(
    id: string,
    q: { checkoutId: string; returnUrl: string },
  ): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }>
  /** Payments made or changed since, oldest first. */
  listPayments(id: string, q: { since: Date }): Promise<ProviderPayment[]>
  /** Refused as `not-found` or `not-refundable` where it never will be; otherwise it may be later, under another key. */
  refund(paymentId: string, q: { idempotencyKey: string }): Promise<void>
  /** Compared without case; null where there is none. */
  findCoupon(code: string): Promise<Coupon | null>
  /** Throws `Refused` with `bad-signature` or `bad-body`; `Unavailable` where more has to be asked first. */
  parseWebhook(headers: Headers, rawBody: Uint8Array): BillingEvent[] | Promise<BillingEvent[]>
}
