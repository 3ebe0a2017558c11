/** Runs the time-based work of the sandbox provider: recurring charges, retries, chargebacks. */
import { sql } from 'kysely'
import { dayMs } from '#runtime/durations'
import type { CardSummary } from './port.ts'
import { declined, isChargedBack, isDeclined } from './sandbox-cards.ts'
import {
  type AgreementRow,
  type BillingDb,
  computeNextDue,
  emit,
  hashId,
  type PaymentRow,
} from './sandbox-rows.ts'

/** A failed charge is retried this many days after its due date. */
const retryDays = [1, 3, 5]

export interface Charge {
  /** Names the charge within its agreement; charges with the same name make only one payment. */
  name: string
  amount: string
  at: Date
  isPayerThere: boolean
  card: CardSummary
  dueAt?: Date | null
  attempt?: number
  checkoutId?: string | null
  idempotencyKey?: string | null
}

/** Makes one payment with a card. Must run in a transaction that has locked the agreement's row. */
export async function makePayment(
  db: BillingDb,
  agreement: AgreementRow,
  charge: Charge,
): Promise<PaymentRow> {
  // A zero amount is never declined.
  const isRefused = Number(charge.amount) > 0 && isDeclined(charge.card, charge.isPayerThere)
  return db
    .insertInto('sandbox_payments')
    .values({
      id: hashId('sp', agreement.id, charge.name),
      store_id: agreement.store_id,
      agreement_id: agreement.id,
      checkout_id: charge.checkoutId ?? null,
      idempotency_key: charge.idempotencyKey ?? null,
      status: isRefused ? 'rejected' : 'approved',
      amount: charge.amount,
      currency: agreement.currency,
      due_at: charge.dueAt ?? null,
      attempt: charge.attempt ?? 1,
      failure_reason: isRefused ? declined : null,
      card: JSON.stringify(charge.card),
      charge_back_at: !isRefused && isChargedBack(charge.card) ? new Date(charge.at.getTime() + dayMs) : null,
      created_at: charge.at,
      updated_at: charge.at,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Tries the due charge and sets the time of the next attempt. Returns the changed agreement and the payment. */
export async function tryDue(
  db: BillingDb,
  agreement: AgreementRow,
  { at, isPayerThere }: { at: Date; isPayerThere: boolean },
): Promise<{ agreement: AgreementRow; payment: PaymentRow }> {
  const dueAt = agreement.next_payment_at!
  const attempt = agreement.retry + 1
  const payment = await makePayment(db, agreement, {
    name: `${dueAt.toISOString()} ${attempt}`,
    amount: agreement.amount,
    at,
    isPayerThere,
    card: agreement.card as CardSummary,
    dueAt,
    attempt,
  })
  const retryDay = payment.status === 'rejected' ? retryDays[agreement.retry] : undefined
  const following = computeNextDue(agreement.anchor_at!, agreement.frequency, dueAt)
  const changed = await db
    .updateTable('sandbox_agreements')
    .set(
      retryDay === undefined
        ? { next_payment_at: following, next_try_at: following, retry: 0, updated_at: at }
        : { next_try_at: new Date(dueAt.getTime() + retryDay * dayMs), retry: attempt, updated_at: at },
    )
    .where('id', '=', agreement.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { agreement: changed, payment }
}

interface Step {
  storeId: string
  agreementId: string
  /** The payment that is charged back; null for a charge or a retry. */
  paymentId: string | null
  at: Date
}

/** Stores whose billing sandbox is set to be down. */
const findDownStores = (db: BillingDb) =>
  db.selectFrom('sandbox_modes').select('store_id').where('port', '=', 'billing').where('mode', '=', 'down')

/** The first due step of every agreement, or of a store's, oldest first: what an agreement has later may depend on it. */
async function listDueSteps(db: BillingDb, now: Date, storeId: string | null = null): Promise<Step[]> {
  const charges = db
    .selectFrom('sandbox_agreements')
    .select(['store_id as storeId', 'id as agreementId', sql<string | null>`null`.as('paymentId')])
    .select(sql<Date>`next_try_at`.as('at'))
    .where('status', '=', 'authorized')
    .where('next_try_at', '<=', now)
  const chargebacks = db
    .selectFrom('sandbox_payments')
    .select(['store_id as storeId', 'agreement_id as agreementId', sql<string | null>`id`.as('paymentId')])
    .select(sql<Date>`charge_back_at`.as('at'))
    .where('charge_back_at', '<=', now)
  const steps = await db
    .selectFrom(charges.unionAll(chargebacks).as('step'))
    .selectAll()
    .where('storeId', 'not in', findDownStores(db))
    .$if(storeId !== null, (all) => all.where('storeId', '=', storeId))
    .orderBy('at')
    .orderBy('agreementId')
    .orderBy('paymentId')
    .execute()
  return [...Map.groupBy(steps, (step) => step.agreementId).values()].map(([first]) => first!)
}

/** The stores with a due step, with the time of the first one. */
export async function listDueStores(db: BillingDb, now: Date): Promise<Pick<Step, 'storeId' | 'at'>[]> {
  const steps = await listDueSteps(db, now)
  return [...Map.groupBy(steps, (step) => step.storeId).values()].map(([first]) => first!)
}

/**
 * Runs the first due step of every agreement, or of a store's, in one transaction each; it is dated at its due time.
 * Returns how many it ran. An agreement may have more steps due: call again until it returns 0.
 */
export async function runDue(db: BillingDb, now: Date, storeId: string | null = null): Promise<number> {
  let made = 0
  for (const { agreementId, paymentId } of await listDueSteps(db, now, storeId)) {
    made += await db
      .transaction()
      .execute((tx) =>
        paymentId === null ? chargeDue(tx, agreementId, now) : chargeBack(tx, agreementId, paymentId),
      )
  }
  return made
}

async function chargeDue(tx: BillingDb, id: string, now: Date): Promise<number> {
  const agreement = await tx
    .selectFrom('sandbox_agreements')
    .selectAll()
    .where('id', '=', id)
    .where('status', '=', 'authorized')
    .where('next_try_at', '<=', now)
    .forUpdate()
    .executeTakeFirst()
  if (!agreement) return 0
  const at = agreement.next_try_at!
  const tried = await tryDue(tx, agreement, { at, isPayerThere: false })
  await emit(tx, { kind: 'payment', key: buildEventKey(tried.payment), at, ...tried })
  return 1
}

async function chargeBack(tx: BillingDb, agreementId: string, id: string): Promise<number> {
  const agreement = await lockAgreement(tx, agreementId)
  const before = await tx
    .selectFrom('sandbox_payments')
    .select('charge_back_at')
    .where('id', '=', id)
    .executeTakeFirst()
  const at = before?.charge_back_at
  if (!agreement || !at) return 0
  const payment = await tx
    .updateTable('sandbox_payments')
    .set((eb) => ({
      status: 'charged-back',
      refunded: eb.ref('amount'),
      charge_back_at: null,
      updated_at: at,
    }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await emit(tx, { kind: 'payment', key: buildEventKey(payment), at, agreement, payment })
  return 1
}

/** Takes the lock that every change of an agreement or its payments must hold. */
export const lockAgreement = (db: BillingDb, id: string): Promise<AgreementRow | undefined> =>
  db.selectFrom('sandbox_agreements').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()

/** The event key of a payment's state. */
export const buildEventKey = ({ id, status, refunded }: PaymentRow): string =>
  status === 'approved' && Number(refunded) > 0 ? `${id}:refunded:${refunded}` : `${id}:${status}`
