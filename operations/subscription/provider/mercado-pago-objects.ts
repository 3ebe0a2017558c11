/** Mercado Pago's objects, of which we read only what is named here, in the port's form. */

import { Unavailable } from '#runtime/ports/errors'
import { z } from '#runtime/schema'
import { amountText } from '#runtime/values/money'
import type { Agreement, CardSummary, ProviderPayment } from './port.ts'

export const provider = 'mercadopago'

const text = z.union([z.string(), z.number()]).transform(String)
const amount = z
  .union([z.string().regex(/\d/), z.number()])
  .transform(Number)
  .refine(Number.isFinite)
  .transform(amountText)
const instant = z
  .string()
  .refine((value) => !Number.isNaN(Date.parse(value)))
  .transform((value) => new Date(value).toISOString())
const orNull = <S extends z.ZodTypeAny>(schema: S) => schema.nullish().transform((value) => value ?? null)

/** As much as is read of a subscription before it is known to be ours: the account may sell others, of other forms. */
export const anyPreapproval = z.object({ external_reference: orNull(text).catch(null) })

/** A subscription. */
export const preapproval = z.object({
  id: text,
  status: z.string(),
  reason: orNull(z.string()),
  /** Answered as an empty text, mostly. */
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

/** An invoice of a subscription: one a period, with the payment of its latest try. */
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
  /** Of all refunds; one in part leaves the status `approved`, with the detail `partially_refunded`. */
  transaction_amount_refunded: orNull(amount),
  currency_id: z.string(),
  payment_method_id: orNull(z.string()),
  date_created: instant,
  date_approved: orNull(instant),
  date_last_updated: orNull(instant),
  /** Of a boleto or a transfer the paper of it; cards have none. */
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

/** The account that the access token is of. */
export const seller = z.object({
  email: orNull(z.string()),
  site_id: orNull(z.string()),
  tags: orNull(z.array(z.string())),
})
export type Seller = z.output<typeof seller>

/**
 * The page to pay on, as it is documented: since September 2026 `activation=true` stands in it, and opens a page that
 * does not exist (sdk-nodejs#480).
 */
export function pageOf(initPoint: string): string {
  const url = URL.parse(initPoint)
  if (!url?.searchParams.has('activation')) return initPoint
  url.searchParams.delete('activation')
  return url.href
}

/** What the provider answered, checked; an answer of another form is as good as none. */
export function objectOf<S extends z.ZodTypeAny>(schema: S, answer: unknown): z.output<S> {
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

/** `finished`, `cancelled` and what may come: nothing is charged any more. */
export const agreementOf = (from: Preapproval, card: CardSummary | null): Agreement => {
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
    checkoutUrl: status === 'pending' && from.init_point ? pageOf(from.init_point) : null,
  }
}

const paymentStatuses: Record<string, ProviderPayment['status']> = {
  approved: 'approved',
  rejected: 'rejected',
  cancelled: 'rejected',
  refunded: 'refunded',
  charged_back: 'charged-back',
}

/** `pending`, `in_process`, `authorized`, `in_mediation` are open. */
export const statusOf = (from: Payment): ProviderPayment['status'] =>
  paymentStatuses[from.status] ?? 'pending'

export function cardOf(from: Payment): CardSummary | null {
  const { last_four_digits: last4, expiration_month: expMonth, expiration_year: expYear } = from.card ?? {}
  if (!last4 || !expMonth || !expYear) return null
  const brand = from.payment_method_id ?? 'card'
  return { brand: brand === 'master' ? 'mastercard' : brand, last4, expMonth, expYear }
}

export function paymentOf(
  from: Payment,
  invoice: AuthorizedPayment,
  checkoutId: string | null,
): ProviderPayment {
  const status = statusOf(from)
  return {
    id: from.id,
    agreementId: invoice.preapproval_id,
    checkoutId,
    idempotencyKey: null,
    status,
    amount: from.transaction_amount,
    refundedAmount: from.transaction_amount_refunded ?? '0.00',
    currency: from.currency_id,
    dueAt: checkoutId === null ? (invoice.debit_date ?? invoice.date_created) : null,
    attempt: (invoice.retry_attempt ?? 0) + 1,
    failureReason: status === 'rejected' ? failureOf(from.status_detail) : null,
    paymentMethod: cardOf(from),
    receiptUrl: receiptOf(from),
    createdAt: from.date_created,
    updatedAt: from.date_last_updated ?? from.date_created,
  }
}

function receiptOf({ transaction_details: details }: Payment): string | null {
  const address = details?.external_resource_url ?? ''
  return URL.parse(address)?.protocol === 'https:' ? address : null
}

/** `cc_rejected_insufficient_amount` as `insufficient-amount`. */
const failureOf = (detail: string | null): string =>
  detail?.replace(/^cc_rejected_/, '').replaceAll('_', '-') || 'card-declined'
