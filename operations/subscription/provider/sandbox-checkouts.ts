/** The checkouts of the sandbox: opened through the port, paid by the payer on the sandbox's own page. */
import type { NewRow } from '#db/tables'
import type { Agreement, CardSummary, CheckoutKind } from './port.ts'
import { type CardInput, declined, isDeclined, readCard } from './sandbox-cards.ts'
import { lockAgreement, makePayment, tryDue } from './sandbox-charges.ts'
import {
  type AgreementRow,
  type BillingDb,
  type CheckoutRow,
  computeNextDue,
  emit,
  type PaymentRow,
  provider,
} from './sandbox-rows.ts'

export type OpenCheckout = Omit<NewRow<'sandbox_checkouts'>, 'expires_at' | 'created_at'>

export interface ShownCheckout {
  isOpen: boolean
  kind: CheckoutKind
  /** Plan and cycle, such as `Growth, monthly`. */
  title: string
  /** Due now. */
  firstAmount: string
  coupon: string | null
  agreement: Agreement
}

/** The result of a submitted form. */
export type PayResult =
  | { closed: true }
  | { faults: Partial<Record<keyof CardInput, string>> }
  | { storeId: string; returnUrl: string }

export const findCheckout = (db: BillingDb, id: string): Promise<CheckoutRow | undefined> =>
  db.selectFrom('sandbox_checkouts').selectAll().where('id', '=', id).executeTakeFirst()

/** Finds the checkout with this id, or creates it. */
export async function openCheckout(db: BillingDb, row: NewRow<'sandbox_checkouts'>): Promise<CheckoutRow> {
  await db
    .insertInto('sandbox_checkouts')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  return (await findCheckout(db, row.id))!
}

/** Closes the open pages of an agreement, except one. */
export async function closeCheckouts(
  db: BillingDb,
  agreementId: string,
  except: string | null,
  now: Date,
): Promise<void> {
  let query = db
    .updateTable('sandbox_checkouts')
    .set({ status: 'cancelled', closed_at: now })
    .where('agreement_id', '=', agreementId)
    .where('status', '=', 'open')
  if (except !== null) query = query.where('id', '<>', except)
  await query.execute()
}

/** Charges the payer's card. Approves or rejects the checkout and writes its event in the same transaction. */
export async function payCheckout(
  db: BillingDb,
  id: string,
  input: CardInput,
  now: Date,
): Promise<PayResult> {
  return db.transaction().execute(async (tx): Promise<PayResult> => {
    const found = await findCheckout(tx, id)
    const agreement = found && (await lockAgreement(tx, found.agreement_id))
    const checkout = found && (await findCheckout(tx, id))
    if (!agreement || checkout?.status !== 'open' || checkout.expires_at <= now) return { closed: true }
    const read = readCard(input, now)
    if ('faults' in read) return read
    const result =
      checkout.kind === 'card-update'
        ? await saveCard(tx, agreement, read.card, now)
        : await startAgreement(tx, agreement, checkout, read.card, now)
    const outcome = isDeclined(read.card, true) ? 'rejected' : 'approved'
    const failureReason = outcome === 'rejected' ? declined : null
    await tx
      .updateTable('sandbox_checkouts')
      .set({ status: outcome, failure_reason: failureReason, closed_at: now })
      .where('id', '=', id)
      .execute()
    await emit(tx, {
      kind: 'checkout',
      key: `${id}:${outcome}`,
      at: now,
      checkoutId: checkout.checkout_id,
      outcome,
      failureReason,
      ...result,
    })
    return { storeId: checkout.store_id, returnUrl: buildReturnUrl(checkout) }
  })
}

interface Result {
  agreement: AgreementRow
  payment: PaymentRow | null
}

/** Makes the first payment of an agreement. If nothing is due, it only stores the card. */
async function startAgreement(
  tx: BillingDb,
  agreement: AgreementRow,
  checkout: CheckoutRow,
  card: CardSummary,
  now: Date,
): Promise<Result> {
  const payment =
    Number(checkout.first_amount) > 0
      ? await makePayment(tx, agreement, {
          name: 'first',
          amount: checkout.first_amount,
          at: now,
          isPayerThere: true,
          card,
          checkoutId: checkout.checkout_id,
        })
      : null
  const anchor = agreement.starts_at ?? now
  const first = agreement.starts_at ?? computeNextDue(now, agreement.frequency, now)
  const changed = await tx
    .updateTable('sandbox_agreements')
    .set(
      isDeclined(card, true)
        ? { status: 'cancelled', updated_at: now }
        : {
            status: 'authorized',
            card: JSON.stringify(card),
            anchor_at: anchor,
            next_payment_at: first,
            next_try_at: first,
            updated_at: now,
          },
    )
    .where('id', '=', agreement.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { agreement: changed, payment }
}

/** Stores the new card and immediately retries a failed charge with it. */
async function saveCard(
  tx: BillingDb,
  agreement: AgreementRow,
  card: CardSummary,
  now: Date,
): Promise<Result> {
  if (isDeclined(card, true)) return { agreement, payment: null }
  const changed = await tx
    .updateTable('sandbox_agreements')
    .set({ card: JSON.stringify(card), updated_at: now })
    .where('id', '=', agreement.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (changed.retry === 0) return { agreement: changed, payment: null }
  return tryDue(tx, changed, { at: now, isPayerThere: true })
}

function buildReturnUrl(checkout: CheckoutRow): string {
  const url = new URL(checkout.return_url)
  url.searchParams.set('provider', provider)
  url.searchParams.set('ref', checkout.id)
  return url.href
}
