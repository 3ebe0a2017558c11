/** Schemas of Mercado Pago's objects, with only the fields that are read, and their mapping to the port's types. */

import { Unavailable } from '#runtime/ports/errors'
import { z } from '#runtime/schema'
import { amounts } from '../money.ts'
import type { Agreement, CardSummary, ProviderPayment } from './port.ts'

export const provider = 'mercadopago'

const text = z.union([z.string(), z.number()]).transform(String)
const amount = z
  .union([z.string().regex(/\d/), z.number()])
  .transform(Number)
  .refine(Number.isFinite)
  .transform(amounts.formatAmount)
const instant = z
  .string()
  .refine((value) => !Number.isNaN(Date.parse(value)))
  .transform((value) => new Date(value).toISOString())
const orNull = <S extends z.ZodTypeAny>(schema: S) => schema.nullish().transform((value) => value ?? null)

/** Parsed first, to see whether this server created the subscription: others of the account may have other fields. */
export const anyPreapproval = z.object({ external_reference: orNull(text).catch(null) })

/** A subscription, which Mercado Pago calls a preapproval. */
export const preapproval = z.object({
  id: text,
  status: z.string(),
  reason: orNull(z.string()),
  /** Mercado Pago mostly returns an empty string. */
  payer_email: orNull(z.string()),
  external_reference: orNull(text),
  init_point: orNull(z.string()),
  date_created: instant,
  last_modified: orNull(instant),
  next_payment_date: orNull(instant),
  auto_recurring: z.object({
    frequency: z.number(),
    transaction_amount: amount,
    currency_id: z.string(),
    start_date: orNull(instant),
  }),
})
export type Preapproval = z.output<typeof preapproval>

/** An invoice of a subscription: one per period, with the payment of its latest attempt. */
export const authorizedPayment = z.object({
  id: text,
  preapproval_id: text,
  debit_date: orNull(instant),
  date_created: instant,
  last_modified: orNull(instant),
  retry_attempt: orNull(z.number()),
  payment: orNull(z.object({ id: orNull(text) })),
})
export type AuthorizedPayment = z.output<typeof authorizedPayment>

export const authorizedPayments = z.object({
  paging: z.object({ total: z.number() }),
  results: z.array(authorizedPayment),
})

export const payment = z.object({
  id: text,
  status: z.string(),
  status_detail: orNull(z.string()),
  transaction_amount: amount,
  /** Sum of all refunds. After a partial refund, the status stays `approved` with the detail `partially_refunded`. */
  transaction_amount_refunded: orNull(amount),
  currency_id: z.string(),
  payment_method_id: orNull(z.string()),
  date_created: instant,
  date_approved: orNull(instant),
  date_last_updated: orNull(instant),
  /** The URL of a boleto or transfer document; null for cards. */
  transaction_details: orNull(z.object({ external_resource_url: orNull(z.string()) })),
  card: orNull(
    z.object({
      last_four_digits: orNull(text),
      expiration_month: orNull(z.number()),
      expiration_year: orNull(z.number()),
    }),
  ),
})
export type Payment = z.output<typeof payment>

/** A chargeback; its payments are those of one purchase. */
export const chargeback = z.object({ payments: z.array(text) })

/** The seller's account, to which the access token belongs. */
export const seller = z.object({
  email: orNull(z.string()),
  site_id: orNull(z.string()),
  tags: orNull(z.array(z.string())),
})
export type Seller = z.output<typeof seller>

/**
 * Removes `activation=true` from the checkout URL: since September 2026 the API adds it, and it opens a page that does not
 * exist (sdk-nodejs#480).
 */
export function cleanCheckoutUrl(initPoint: string): string {
  const url = URL.parse(initPoint)
  if (!url?.searchParams.has('activation')) return initPoint
  url.searchParams.delete('activation')
  return url.href
}

/** Validates a response of the provider. Throws `Unavailable` if it is malformed. */
export function parseAnswer<S extends z.ZodTypeAny>(schema: S, answer: unknown): z.output<S> {
  const parsed = schema.safeParse(answer)
  if (parsed.success) return parsed.data
  const where = parsed.error.issues[0]?.path.join('.') || 'it'
  throw new Unavailable('unknown', `The provider's answer has another form than documented: ${where}`)
}

const agreementStatuses: Record<string, Agreement['status']> = {
  pending: 'pending',
  authorized: 'authorized',
  paused: 'paused',
}

/** `finished`, `cancelled` and unknown statuses map to `cancelled`: nothing more is charged. */
export const toAgreement = (from: Preapproval, card: CardSummary | null): Agreement => {
  const status = agreementStatuses[from.status] ?? 'cancelled'
  return {
    id: from.id,
    provider,
    status,
    reason: from.reason ?? '',
    payerEmail: from.payer_email?.includes('@') ? from.payer_email : null,
    amount: from.auto_recurring.transaction_amount,
    currency: from.auto_recurring.currency_id,
    frequency: from.auto_recurring.frequency,
    frequencyType: 'months',
    startsAt: from.auto_recurring.start_date,
    nextPaymentAt: status === 'authorized' ? from.next_payment_date : null,
    paymentMethod: card,
    checkoutUrl: status === 'pending' && from.init_point ? cleanCheckoutUrl(from.init_point) : null,
  }
}

const paymentStatuses: Record<string, ProviderPayment['status']> = {
  approved: 'approved',
  rejected: 'rejected',
  cancelled: 'rejected',
  refunded: 'refunded',
  charged_back: 'charged-back',
}

/** Whether a chargeback was decided against the payer: the seller got the money back. */
const isDisputeWon = ({ status, status_detail: detail }: Payment): boolean =>
  status === 'charged_back' && detail === 'reimbursed'

/** `pending`, `in_process`, `authorized`, `in_mediation` and unknown statuses map to `pending`. */
export const toPaymentStatus = (from: Payment): ProviderPayment['status'] =>
  isDisputeWon(from) ? 'approved' : (paymentStatuses[from.status] ?? 'pending')

export function toCard(from: Payment): CardSummary | null {
  const { last_four_digits: last4, expiration_month: expMonth, expiration_year: expYear } = from.card ?? {}
  if (!last4 || !expMonth || !expYear) return null
  const brand = from.payment_method_id ?? 'card'
  return { brand: brand === 'master' ? 'mastercard' : brand, last4, expMonth, expYear }
}

export function toPayment(
  from: Payment,
  invoice: AuthorizedPayment,
  checkoutId: string | null,
): ProviderPayment {
  const status = toPaymentStatus(from)
  return {
    id: from.id,
    agreementId: invoice.preapproval_id,
    checkoutId,
    idempotencyKey: null,
    status,
    amount: from.transaction_amount,
    refundedAmount: isDisputeWon(from) ? '0.00' : (from.transaction_amount_refunded ?? '0.00'),
    ...(isDisputeWon(from) ? { isDisputeWon: true } : {}),
    currency: from.currency_id,
    dueAt: checkoutId === null ? (invoice.debit_date ?? invoice.date_created) : null,
    attempt: (invoice.retry_attempt ?? 0) + 1,
    failureReason: status === 'rejected' ? toFailureReason(from.status_detail) : null,
    paymentMethod: toCard(from),
    receiptUrl: findReceiptUrl(from),
    createdAt: from.date_created,
    updatedAt: from.date_last_updated ?? from.date_created,
  }
}

function findReceiptUrl({ transaction_details: details }: Payment): string | null {
  const address = details?.external_resource_url ?? ''
  return URL.parse(address)?.protocol === 'https:' ? address : null
}

/** Turns `cc_rejected_insufficient_amount` into `insufficient-amount`. */
const toFailureReason = (detail: string | null): string =>
  detail?.replace(/^cc_rejected_/, '').replaceAll('_', '-') || 'card-declined'
