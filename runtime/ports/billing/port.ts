/** The billing port: recurring agreements, their payments, cards and coupons. Money is a decimal string (`"224.10"`). */
import type { ProviderEvent } from '../provider.ts'

/** What a checkout is for; the adapter shows it to the payer. */
export type CheckoutKind = 'subscribe' | 'update-plan' | 'resume' | 'card-update'
export type BillingCycle = 'monthly' | 'yearly'

export interface CardSummary {
  /** `visa`, `mastercard`… */
  brand: string
  last4: string
  /** 1-12. */
  expMonth: number
  /** Four digits. */
  expYear: number
}

/** A recurring agreement as the provider has it (PreApproval of the store page). Instants are ISO 8601. */
export interface Agreement {
  id: string
  provider: string
  status: 'pending' | 'authorized' | 'paused' | 'cancelled'
  /** What it says on the payer's statement: `Growth, monthly`. */
  reason: string
  payerEmail: string
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
  /** Due now; `"0.00"` where nothing is. */
  firstAmount: string
  /** Of every later charge. */
  amount: string
  currency: string
  /** The first recurring charge, where it is not one cycle from the payment. */
  startsAt?: string
  payerEmail: string
  coupon?: string
  /** Where the payer comes back to; the adapter adds what it needs to find the checkout. */
  returnUrl: string
  idempotencyKey: string
}

/**
 * What `parseWebhook` answers, each once: `checkout` (approved, rejected), `agreement` (its status changed, a card was
 * saved), `payment` (a charge was made, failed, was refunded or charged back). `data` names the object; what holds is
 * asked of the provider, or carried whole in `data` where the provider sends it whole.
 */
export type BillingEvent = ProviderEvent & { kind: 'checkout' | 'agreement' | 'payment'; data: BillingEventData }
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

/** Every method may throw `Refused` (a 4xx about the request) or `Unavailable`. */
export interface BillingPort {
  readonly capabilities: { chargeNow: boolean; cardUpdate: boolean; pause: boolean }
  createCheckout(q: CheckoutRequest): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }>
  /** What is closed already is success. */
  cancelCheckout(id: string): Promise<void>
  getAgreement(id: string): Promise<Agreement>
  /** The frequency cannot change. */
  updateAgreement(id: string, q: { amount: string; reason: string; idempotencyKey: string }): Promise<Agreement>
  /** Idempotent. */
  pauseAgreement(id: string): Promise<void>
  /** Idempotent. */
  cancelAgreement(id: string): Promise<void>
  /** Charges the saved card once for each `idempotencyKey`. A declined card is an answer, not an error. */
  chargeNow(
    id: string,
    q: { amount: string; currency: string; reason: string; idempotencyKey: string },
  ): Promise<{ paymentId: string; status: 'approved' | 'rejected'; failureReason: string | null }>
  createCardUpdate(id: string, q: { checkoutId: string; returnUrl: string }): Promise<{ url: string; expiresAt: Date }>
  /** Payments made or changed since, oldest first. */
  listPayments(id: string, q: { since: Date }): Promise<ProviderPayment[]>
  refund(paymentId: string, q: { idempotencyKey: string }): Promise<void>
  /** Compared without case; null where there is none. */
  findCoupon(code: string): Promise<Coupon | null>
  /** Throws on a bad signature. */
  parseWebhook(headers: Headers, rawBody: Uint8Array): BillingEvent[] | Promise<BillingEvent[]>
}
