/** The sandbox's billing provider, stored in our own database. The payer's test card decides the result of a charge. */

import type { Clock } from '#runtime/clock'
import { dayMs } from '#runtime/durations'
import { Refused, Unavailable } from '#runtime/ports/errors'
import { amounts } from '../money.ts'
import type { Agreement, BillingEvent, BillingPort, CheckoutKind, CheckoutRequest } from './port.ts'
import { buildReason, countMonths } from './reason.ts'
import type { CardInput } from './sandbox-cards.ts'
import { buildEventKey, listDueStores, lockAgreement, makePayment, runDue } from './sandbox-charges.ts'
import {
  closeCheckouts,
  findCheckout,
  type OpenCheckout,
  openCheckout,
  type PayResult,
  payCheckout,
  type ShownCheckout,
} from './sandbox-checkouts.ts'
import { findSandboxCoupon } from './sandbox-coupons.ts'
import { parseHook, type SignedHook } from './sandbox-hooks.ts'
import { readMode, type SandboxMode, setMode, undelivered } from './sandbox-outbox.ts'
import { type AgreementRow, type BillingDb, emit, hashId, toAgreement, toPayment } from './sandbox-rows.ts'

export class SandboxBilling implements BillingPort {
  readonly capabilities = { chargeNow: true, cardUpdate: true, pause: true, startsLater: true }
  check = async () => [{ code: 'sandbox', isFine: true, message: 'Payments are played: no money moves' }]
  readonly #db: BillingDb
  readonly #clock: Clock
  readonly #secret: string
  readonly #publicUrl: string
  constructor(options: { db: BillingDb; clock: Clock; secret: string; publicUrl: string }) {
    this.#db = options.db
    this.#clock = options.clock
    this.#secret = options.secret
    this.#publicUrl = options.publicUrl
  }

  createCheckout = (q: CheckoutRequest): ReturnType<BillingPort['createCheckout']> =>
    this.#withMode(q.storeId, async () => {
      const now = this.#clock.now()
      const id = hashId('sa', q.storeId, q.idempotencyKey)
      const reason = buildReason(q)
      return this.#db.transaction().execute(async (tx) => {
        await tx
          .insertInto('sandbox_agreements')
          .values({
            id,
            store_id: q.storeId,
            checkout_id: q.checkoutId,
            status: 'pending',
            reason,
            payer_email: q.payerEmail,
            amount: q.amount,
            currency: q.currency,
            frequency: countMonths(q.billingCycle),
            starts_at: q.startsAt ?? null,
            created_at: now,
            updated_at: now,
          })
          .onConflict((conflict) => conflict.column('id').doNothing())
          .execute()
        return this.#openCheckout(tx, {
          id,
          store_id: q.storeId,
          checkout_id: q.checkoutId,
          agreement_id: id,
          kind: q.kind,
          title: reason,
          first_amount: q.firstAmount,
          currency: q.currency,
          coupon: q.coupon ?? null,
          return_url: q.returnUrl,
        })
      })
    })

  createCardUpdate: BillingPort['createCardUpdate'] = (id, { checkoutId, returnUrl }) =>
    this.#onAgreement(id, async (tx, agreement) => {
      if (agreement.status !== 'authorized') throw notActive()
      const checkout = hashId('sc', id, checkoutId)
      await closeCheckouts(tx, id, checkout, this.#clock.now())
      return this.#openCheckout(tx, {
        id: checkout,
        store_id: agreement.store_id,
        checkout_id: checkoutId,
        agreement_id: id,
        kind: 'card-update',
        title: agreement.reason,
        first_amount: agreement.retry > 0 ? agreement.amount : '0.00',
        currency: agreement.currency,
        coupon: null,
        return_url: returnUrl,
      })
    })

  async #openCheckout(
    tx: BillingDb,
    checkout: OpenCheckout,
  ): Promise<{ providerCheckoutId: string; url: string; expiresAt: Date }> {
    const now = this.#clock.now()
    const expiresAt = new Date(now.getTime() + dayMs)
    const row = await openCheckout(tx, { ...checkout, expires_at: expiresAt, created_at: now })
    return { providerCheckoutId: row.id, url: this.#buildUrl(row.id), expiresAt: row.expires_at }
  }

  async cancelCheckout(id: string): Promise<void> {
    const checkout = await findCheckout(this.#db, id)
    if (!checkout) throw notFound('checkout')
    await this.#onAgreement(checkout.agreement_id, async (tx, agreement) => {
      const now = this.#clock.now()
      const [closed] = await tx
        .updateTable('sandbox_checkouts')
        .set({ status: 'cancelled', closed_at: now })
        .where('id', '=', id)
        .where('status', '=', 'open')
        .returning('id')
        .execute()
      if (!closed || agreement.status !== 'pending') return
      await tx
        .updateTable('sandbox_agreements')
        .set({ status: 'cancelled', updated_at: now })
        .where('id', '=', agreement.id)
        .execute()
    })
  }

  parseReturn = (query: URLSearchParams): string | null => query.get('ref') || null

  async listEvents(id: string, { since }: { since: Date }): Promise<BillingEvent[]> {
    const checkout = await findCheckout(this.#db, id)
    return this.#onAgreement(checkout?.agreement_id ?? id, async (tx, agreement) => {
      const rows = await tx
        .selectFrom('sandbox_billing_events')
        .select('body')
        .where('agreement_id', '=', agreement.id)
        .where('occurred_at', '>=', since)
        .orderBy('id')
        .execute()
      const events = rows.map((row) => row.body as BillingEvent)
      if (checkout?.kind !== 'card-update') return events
      return events.filter((event) => event.data.checkoutId === checkout.checkout_id)
    })
  }

  getAgreement = (id: string): Promise<Agreement> =>
    this.#onAgreement(id, (tx, agreement) => this.#showAgreement(tx, agreement))

  updateAgreement: BillingPort['updateAgreement'] = (id, { amount, reason }) =>
    this.#onAgreement(id, async (tx, agreement) => {
      if (agreement.status === 'cancelled') throw new Refused('agreement-closed', 'The agreement has ended')
      const changed = await tx
        .updateTable('sandbox_agreements')
        .set({ amount, reason, updated_at: this.#clock.now() })
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirstOrThrow()
      return this.#showAgreement(tx, changed)
    })

  pauseAgreement = (id: string): Promise<void> =>
    this.#onAgreement(id, async (tx, agreement) => {
      if (agreement.status === 'authorized') await this.#move(tx, agreement, 'paused')
      else if (agreement.status !== 'paused') throw notActive()
    })

  cancelAgreement = (id: string): Promise<void> =>
    this.#onAgreement(id, async (tx, agreement) => {
      if (agreement.status !== 'cancelled') await this.#move(tx, agreement, 'cancelled')
    })

  chargeNow: BillingPort['chargeNow'] = (id, q) =>
    this.#onAgreement(id, async (tx, agreement) => {
      const known = await tx
        .selectFrom('sandbox_payments')
        .selectAll()
        .where('agreement_id', '=', id)
        .where('idempotency_key', '=', q.idempotencyKey)
        .executeTakeFirst()
      if (known && known.amount !== amounts.formatAmount(Number(q.amount))) {
        throw new Refused('idempotency-mismatch', 'The same key was used for another amount')
      }
      if (!known && agreement.status !== 'authorized') throw notActive()
      if (q.currency !== agreement.currency) {
        throw new Refused('currency-mismatch', `The agreement is in ${agreement.currency}`)
      }
      const payment = known ?? (await this.#charge(tx, agreement, q))
      return {
        paymentId: payment.id,
        status: payment.status === 'rejected' ? 'rejected' : 'approved',
        failureReason: payment.failure_reason,
      }
    })

  async #charge(tx: BillingDb, agreement: AgreementRow, q: { amount: string; idempotencyKey: string }) {
    const at = this.#clock.now()
    const payment = await makePayment(tx, agreement, {
      name: `charge ${q.idempotencyKey}`,
      amount: q.amount,
      at,
      isPayerThere: false,
      card: agreement.card as never,
      idempotencyKey: q.idempotencyKey,
    })
    await emit(tx, { kind: 'payment', key: buildEventKey(payment), at, agreement, payment })
    return payment
  }

  listPayments: BillingPort['listPayments'] = (id, { since }) =>
    this.#onAgreement(id, async (tx) => {
      const rows = await tx
        .selectFrom('sandbox_payments')
        .selectAll()
        .where('agreement_id', '=', id)
        .where('updated_at', '>=', since)
        .orderBy('position')
        .execute()
      return rows.map(toPayment)
    })

  refund = (paymentId: string): Promise<void> => this.#refundAmount(paymentId, null)

  /** Refunds a part of a payment, as on the provider's own pages. */
  refundPart = (paymentId: string, amount: string): Promise<void> => this.#refundAmount(paymentId, amount)

  /** Refunds `amount` in addition to earlier refunds; null refunds everything not yet refunded. */
  async #refundAmount(paymentId: string, amount: string | null): Promise<void> {
    const found = await this.#db
      .selectFrom('sandbox_payments')
      .select('agreement_id')
      .where('id', '=', paymentId)
      .executeTakeFirst()
    if (!found) throw notFound('payment')
    await this.#onAgreement(found.agreement_id, async (tx, agreement) => {
      const at = this.#clock.now()
      const before = await tx
        .selectFrom('sandbox_payments')
        .selectAll()
        .where('id', '=', paymentId)
        .executeTakeFirstOrThrow()
      if (before.status === 'refunded' && amount === null) return
      if (before.status !== 'approved') throw new Refused('not-refundable', `The payment is ${before.status}`)
      const refunded =
        amount === null
          ? before.amount
          : amounts.toMoney(amounts.toCents(before.refunded) + amounts.toCents(amount))
      if (amounts.toCents(refunded) > amounts.toCents(before.amount)) {
        throw new Refused('refund-too-large', 'That is more than what is left of the payment')
      }
      const isWhole = amount === null || refunded === before.amount
      const payment = await tx
        .updateTable('sandbox_payments')
        .set({
          refunded,
          updated_at: at,
          ...(isWhole ? { status: 'refunded', charge_back_at: null } : {}),
        })
        .where('id', '=', paymentId)
        .returningAll()
        .executeTakeFirstOrThrow()
      await emit(tx, { kind: 'payment', key: buildEventKey(payment), at, agreement, payment })
    })
  }

  findCoupon = async (code: string) => findSandboxCoupon(code)

  parseWebhook = (headers: Headers, rawBody: Uint8Array): BillingEvent[] =>
    parseHook(this.#secret, headers, rawBody)

  /** The content of the checkout page; null for an unknown id. Throws `Unavailable` in an outage. */
  async checkout(id: string): Promise<ShownCheckout | null> {
    const row = await findCheckout(this.#db, id)
    if (!row) return null
    await this.#requireUp(row.store_id)
    const agreement = await this.#db
      .selectFrom('sandbox_agreements')
      .selectAll()
      .where('id', '=', row.agreement_id)
      .executeTakeFirstOrThrow()
    return {
      isOpen: row.status === 'open' && row.expires_at > this.#clock.now(),
      kind: row.kind as CheckoutKind,
      title: row.title,
      firstAmount: row.first_amount,
      coupon: row.coupon,
      agreement: toAgreement(agreement, null),
    }
  }

  /** Submits the payer's form. Returns its validation issues, `closed`, or the return address. */
  async pay(id: string, input: CardInput): Promise<PayResult> {
    if (!(await this.checkout(id))) return { closed: true }
    return payCheckout(this.#db, id, input, this.#clock.now())
  }

  /** Pauses or cancels the store's latest agreement, as its payer would. False when there is no such agreement. */
  async changeByPayer(storeId: string, status: 'paused' | 'cancelled'): Promise<boolean> {
    const latest = await this.#db
      .selectFrom('sandbox_agreements')
      .select('id')
      .where('store_id', '=', storeId)
      .where('status', 'in', status === 'paused' ? ['authorized'] : ['authorized', 'paused'])
      .orderBy('created_at', 'desc')
      .orderBy('id', 'desc')
      .executeTakeFirst()
    if (!latest) return false
    await this.#db.transaction().execute(async (tx) => {
      const agreement = await lockAgreement(tx, latest.id)
      if (agreement && agreement.status !== status) await this.#move(tx, agreement, status)
    })
    return true
  }

  runDue = (storeId?: string): Promise<number> => runDue(this.#db, this.#clock.now(), storeId)
  listDueStores = (): ReturnType<typeof listDueStores> => listDueStores(this.#db, this.#clock.now())

  /** Whether the store has charges that are due and not made. Until they are, its present state is not known. */
  hasDueSteps = async (storeId: string): Promise<boolean> =>
    (await this.listDueStores()).some((due) => due.storeId === storeId)

  /** The same provider at the time of another clock. */
  at = (clock: Clock): SandboxBilling =>
    new SandboxBilling({ db: this.#db, clock, secret: this.#secret, publicUrl: this.#publicUrl })

  /** The undelivered webhooks, signed, oldest first; of all stores or of one store. */
  undelivered = (storeId?: string): AsyncGenerator<SignedHook, void, void> =>
    undelivered(this.#db, { secret: this.#secret, now: () => this.#clock.now(), storeId: storeId ?? null })

  /** Sets the outage mode of a store. */
  setMode = (storeId: string, mode: SandboxMode): Promise<void> => setMode(this.#db, storeId, mode)

  #buildUrl = (id: string): string => `${this.#publicUrl}/sandbox/checkout/${id}`

  async #showAgreement(tx: BillingDb, agreement: AgreementRow): Promise<Agreement> {
    if (agreement.status !== 'pending') return toAgreement(agreement, null)
    const checkout = await findCheckout(tx, agreement.id)
    const isOpen = checkout?.status === 'open' && checkout.expires_at > this.#clock.now()
    return isOpen
      ? toAgreement(agreement, this.#buildUrl(agreement.id))
      : toAgreement({ ...agreement, status: 'cancelled' }, null)
  }

  async #move(tx: BillingDb, agreement: AgreementRow, status: 'paused' | 'cancelled'): Promise<void> {
    const at = this.#clock.now()
    const moved = await tx
      .updateTable('sandbox_agreements')
      .set({ status, next_try_at: null, updated_at: at })
      .where('id', '=', agreement.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await closeCheckouts(tx, agreement.id, null, at)
    await emit(tx, { kind: 'agreement', key: `${moved.id}:${status}`, at, agreement: moved })
  }

  /** Throws `Unavailable` if the store's sandbox is down. Returns false if the response of the call must be lost. */
  async #requireUp(storeId: string): Promise<boolean> {
    const mode = await readMode(this.#db, storeId)
    if (mode === 'down') throw new Unavailable('no', 'The sandbox is set to be down')
    return mode !== 'timeout'
  }

  async #withMode<T>(storeId: string, work: () => Promise<T>): Promise<T> {
    const isAnswered = await this.#requireUp(storeId)
    const answer = await work()
    if (!isAnswered) throw new Unavailable('unknown', 'The sandbox is set to lose its answers')
    return answer
  }

  /** Runs `work` in one transaction that has locked the agreement's row. */
  async #onAgreement<T>(
    id: string,
    work: (tx: BillingDb, agreement: AgreementRow) => Promise<T>,
  ): Promise<T> {
    const found = await this.#db
      .selectFrom('sandbox_agreements')
      .select('store_id')
      .where('id', '=', id)
      .executeTakeFirst()
    if (!found) throw notFound('agreement')
    return this.#withMode(found.store_id, () =>
      this.#db.transaction().execute(async (tx) => work(tx, (await lockAgreement(tx, id))!)),
    )
  }
}

const notFound = (what: string): Refused => new Refused('not-found', `The sandbox knows no such ${what}`)
const notActive = (): Refused => new Refused('agreement-not-active', 'The agreement is not active')

export const sandboxBilling = (options: ConstructorParameters<typeof SandboxBilling>[0]): SandboxBilling =>
  new SandboxBilling(options)

/** Returns the sandbox adapter, for its methods that are not part of the port. Throws if this server has none. */
export function getSandboxBilling(adapters: Readonly<Record<string, BillingPort>>): SandboxBilling {
  const port = adapters.sandbox
  if (!(port instanceof SandboxBilling)) throw new Error('This server has no billing sandbox')
  return port
}
