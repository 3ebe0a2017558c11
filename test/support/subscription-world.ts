/**
 * A store, its payer and its payment provider for model-based tests: every possible move, and the invariants after
 * each. Holdings are what the merchant has paid for and not used: unused paid time and credit, in cents.
 */

import { expect } from 'vitest'
import { canWriteAt, type SubscriptionStatus, statusAt } from '#operations/store/plans'
import { applyDueEvents, applyEvents } from '#operations/store/provider-events/apply'
import { readCurrentCycle } from '#operations/store/quota/cycles'
import { readEntitlement } from '#operations/store/quota/entitlement'
import * as metering from '#operations/store/quota/metering'
import cancelSubscription from '#operations/subscription/billing/api/cancel-subscription'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import resumeSubscription from '#operations/subscription/billing/api/resume-subscription'
import updateCard from '#operations/subscription/billing/api/update-card'
import updatePlan from '#operations/subscription/billing/api/update-plan'
import validateCoupon from '#operations/subscription/billing/api/validate-coupon'
import { reconcile } from '#operations/subscription/billing/reconcile'
import { updateNextAmount } from '#operations/subscription/billing/sync'
import { runTasks } from '#operations/subscription/billing/tasks'
import { tick } from '#operations/subscription/billing/tick'
import type { BillingEvent } from '#operations/subscription/provider/port'
import { getSandboxBilling, type SandboxBilling } from '#operations/subscription/provider/sandbox'
import { parseHook, signHook } from '#operations/subscription/provider/sandbox-hooks'
import { computeNextDue, emit } from '#operations/subscription/provider/sandbox-rows'
import getSubscription from '#operations/subscription/reads/api/get-subscription'
import { advanceTo, type SubscriptionRow } from '#operations/subscription/transitions'
import { type Context, SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import type { Operation } from '#runtime/operation'
import { deriveKey } from '#runtime/secrets'
import { hundredths } from '#runtime/values/money'
import type { TestApp } from './app.ts'
import type { Answer } from './store.ts'
import { type Billed, billed, type CardName, cards } from './subscriber.ts'
import { checkReadings } from './subscription-readings.ts'

const { toCents, toMoney } = hundredths

export type Plan = 'starter' | 'growth' | 'scale'
type Cycle = 'monthly' | 'yearly'
type Wish = { plan: Plan | null; cycle: Cycle | null; coupon: string | null }

export type Move =
  | ({ move: 'subscribe' | 'resume' | 'update' } & Wish)
  | { move: 'validate'; code: string; plan: Plan | null; cycle: Cycle }
  /** `sleep`: our jobs stop until something is delivered; requests and hooks continue. */
  | { move: 'card-update' | 'cancel' | 'hold' | 'sleep' }
  | { move: 'pay'; page: number; card: CardName }
  /** The payer pays before the page can be closed. */
  | { move: 'pay-behind'; page: number }
  | { move: 'payer'; status: 'paused' | 'cancelled' | 'authorized' }
  | { move: 'charge-back' | 'give-back'; payment: number }
  /** The provider refunds a part of a payment, in thousandths. */
  | { move: 'give-part'; payment: number; share: number }
  | { move: 'mode'; mode: 'up' | 'down' | 'timeout' }
  | { move: 'deliver'; order: Order }
  /** `leap`: all at once, as after a long outage of ours. */
  | { move: 'wait' | 'leap'; hours: number }
  | { move: 'use'; units: number }
  | { move: 'at-once'; moves: readonly [Move, Move] }

/** `half-lost`: every other one is lost. */
export type Order = 'in-order' | 'reversed' | 'twice' | 'lost' | 'half-lost'

interface Page {
  id: string
  providerId: string
  openedAt: Date
  /** Unused paid time when it was opened: the offered price is valid for a day. */
  unused: bigint
}

interface Seen {
  now: Date
  row: SubscriptionRow
  payments: ReadonlyMap<string, Paid>
  used: number
  cycleEnd: Date
}
interface Paid {
  amount: bigint
  /** Refunded amount. */
  back: bigint
  isIn: boolean
  at: Date
}

const zero = 0n
const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)

const live = (row: SubscriptionRow): boolean => row.status === 'active' || row.status === 'cancelled'

/** The rest of the paid period; calculated differently from the product. */
export function unusedAt(row: SubscriptionRow, now: Date): bigint {
  if (!live(row) || row.period_cost === null) return zero
  const whole = row.current_period_end.getTime() - row.current_period_start.getTime()
  const left = Math.min(whole, Math.max(0, row.current_period_end.getTime() - now.getTime()))
  return BigInt(Math.round((Number(toCents(row.period_cost)) * left) / whole))
}
const holdingsAt = (row: SubscriptionRow, now: Date): bigint =>
  unusedAt(row, now) + toCents(row.credit_balance)

export class SubscriptionWorld {
  readonly #app: TestApp
  readonly #me: Billed
  readonly #ctx: Context
  readonly #system: SystemContext
  readonly #sandbox: SandboxBilling
  readonly #secret: string
  readonly #pages: Page[] = []
  readonly #remaining = new Map<string, number>()
  #mode: 'up' | 'down' | 'timeout' = 'up'
  #isHeld = false
  #isAsleep = false
  #isPutOff = false
  /** State of the last moment without pending work. */
  #quiet: Seen
  /** Nothing has been withheld or skipped since then. */
  #isExact = true
  #promised = zero
  #paidSince = false

  private constructor(app: TestApp, me: Billed, ctx: Context, seen: Seen) {
    this.#app = app
    this.#me = me
    this.#ctx = ctx
    this.#system = new SystemContext(app.services, app.services.log, 'test')
    this.#sandbox = getSandboxBilling(app.services.adapters.billing)
    this.#secret = deriveKey(app.services.settings.secretKey, 'sandbox-billing').toString('hex')
    this.#quiet = seen
  }

  /** A store in its trial, or on a free plan. */
  static async open(app: TestApp, gift: Plan | null): Promise<SubscriptionWorld> {
    const me = await billed(app, { plan: gift })
    const ctx = await me.shop.context()
    return new SubscriptionWorld(app, me, ctx, await look(app, ctx))
  }

  get isQuiet(): boolean {
    return this.#mode === 'up' && !this.#isHeld && !this.#isAsleep
  }

  async do(move: Move): Promise<void> {
    await this.#carryOut(move)
    await this.#background()
    await this.#check()
  }

  /** Returns to active and charged, from any state, by the steps that the API suggests. */
  async comeBack(): Promise<void> {
    await this.do({ move: 'mode', mode: 'up' })
    await this.do({ move: 'deliver', order: 'in-order' })
    const tried: string[] = []
    for (let moves = 0; moves < 3; moves += 1) {
      const { status, pausedAt } = await this.#me.read(getSubscription)
      if (status === 'active' && pausedAt === null) return
      const ask = (operation: Operation): Promise<Answer> =>
        this.#me.post(operation, operation === createPreapproval ? { planId: 'growth' } : {})
      let way = wayBack[status as SubscriptionStatus]
      let answer = await ask(way)
      const path = /POST (\/subscription\/[a-z-]+)/.exec(answer.body.error?.message ?? '')?.[1]
      if (answer.status === 409 && path && path !== way.spec.path) {
        tried.push(`${status}: ${way.spec.path} ${answer.body.error.message}`)
        way = writes.find(({ spec }) => spec.path === path)!
        answer = await ask(way)
      }
      tried.push(`${status}: ${way.spec.path} ${answer.status} ${answer.body.error?.message ?? ''}`)
      if (answer.status === 201) {
        await this.#remember(answer.body)
        await this.do({ move: 'pay', page: this.#pages.length - 1, card: 'good' })
      }
    }
    const { status, pausedAt } = await this.#me.read(getSubscription)
    expect([status, pausedAt], `no way back: ${tried.join(' | ')}`).toEqual(['active', null])
  }

  async #carryOut(move: Move): Promise<void> {
    switch (move.move) {
      case 'subscribe':
        return this.#ask(createPreapproval, toBody({ ...move, plan: move.plan ?? 'growth' }))
      case 'resume':
        return this.#ask(resumeSubscription, toBody(move))
      case 'update':
        return this.#ask(updatePlan, toBody(move))
      case 'card-update':
        return this.#ask(updateCard, {})
      case 'cancel':
        return this.#ask(cancelSubscription, {})
      case 'validate': {
        const { code, plan, cycle } = move
        return this.#ask(validateCoupon, {
          code,
          billingCycle: cycle,
          ...(plan === null ? {} : { planId: plan }),
        })
      }
      case 'pay':
        return this.#pay(move.page, move.card)
      case 'pay-behind':
        await this.#reopen(move.page)
        return this.#pay(move.page, 'good')
      case 'payer':
        if (this.#mode !== 'up') return
        if (move.status === 'authorized') return this.#letGoOn()
        await this.#sandbox.changeByPayer(this.#me.shop.id, move.status)
        return
      case 'charge-back':
        return this.#chargeBack(move.payment)
      case 'give-back':
        return this.#giveBack(move.payment)
      case 'give-part':
        return this.#givePart(move.payment, move.share)
      case 'mode':
        this.#mode = move.mode
        return this.#me.mode(move.mode)
      case 'hold':
        this.#isHeld = true
        this.#isExact = false
        return
      case 'deliver':
        await this.#deliver(move.order)
        if (move.order === 'lost' || move.order === 'half-lost') await this.#nextDay()
        this.#isHeld = false
        this.#isAsleep = false
        return
      case 'sleep':
        this.#isAsleep = true
        this.#isExact = false
        return
      case 'wait':
        return this.#wait(move.hours)
      case 'leap':
        this.#isExact = false
        return this.#app.advance(move.hours * hourMs)
      case 'use':
        return this.#use(move.units)
      case 'at-once':
        await Promise.all(move.moves.map((each) => this.#carryOut(each)))
    }
  }

  async #ask(operation: Operation, body: Record<string, unknown>): Promise<void> {
    const answer: Answer = await this.#me.post(operation, body)
    const allowed = this.#mode === 'up' ? [200, 201, 400, 409] : [200, 201, 400, 409, 503]
    expect(allowed, `${operation.spec.path}: ${JSON.stringify(answer.body)}`).toContain(answer.status)
    const opened = operation === updatePlan ? answer.body.checkout : answer.body
    if (answer.status < 300 && opened?.checkoutUrl) await this.#remember(opened)
    if (operation === validateCoupon) {
      const known = await this.#ctx.db.selectFrom('coupon_redemptions').select('code').execute()
      if (known.some((each) => each.code === body.code)) expect(answer.body.isValid).toBe(false)
    }
  }

  async #remember(checkout: { id: string; checkoutUrl: string }): Promise<void> {
    const { now, row } = await look(this.#app, this.#ctx)
    const providerId = new URL(checkout.checkoutUrl).pathname.split('/').at(-1)!
    this.#pages.push({ id: checkout.id, providerId, openedAt: now, unused: unusedAt(row, now) })
  }

  async #pay(index: number, card: CardName): Promise<void> {
    const page = this.#pages.at(index % Math.max(1, this.#pages.length))
    if (!page || this.#mode !== 'up') return
    const before = unusedAt(advanceTo(this.#quiet.row, this.#app.clock.now()).row, this.#app.clock.now())
    const form = { cardNumber: cards[card], holder: 'Olivia', expMonth: '12', expYear: '2089' }
    const paid = await this.#sandbox.pay(page.providerId, form)
    if (!('storeId' in paid)) return
    // The offered price is valid for a day, however much of the old period is used meanwhile.
    this.#promised += larger(page.unused - before, zero)
    this.#paidSince = true
  }

  async #reopen(index: number): Promise<void> {
    const page = this.#pages.at(index % Math.max(1, this.#pages.length))
    if (!page) return
    const { root } = this.#app.database
    const opened = await root
      .updateTable('sandbox_checkouts')
      .set({ status: 'open', closed_at: null })
      .where('id', '=', page.providerId)
      .where('status', '=', 'cancelled')
      .where('expires_at', '>', this.#app.clock.now())
      .returning('agreement_id')
      .executeTakeFirst()
    if (!opened) return
    await root
      .updateTable('sandbox_agreements')
      .set({ status: 'pending' })
      .where('id', '=', opened.agreement_id)
      .where('status', '=', 'cancelled')
      .where('anchor_at', 'is', null)
      .execute()
  }

  /** The payer resumes an agreement that was paused at the provider. */
  async #letGoOn(): Promise<void> {
    const { root } = this.#app.database
    const now = this.#app.clock.now()
    const paused = await root
      .selectFrom('sandbox_agreements')
      .selectAll()
      .where('store_id', '=', this.#me.shop.id)
      .where('status', '=', 'paused')
      .orderBy('created_at', 'desc')
      .executeTakeFirst()
    if (!paused) return
    const next = computeNextDue(paused.anchor_at!, paused.frequency, now)
    const agreement = await root
      .updateTable('sandbox_agreements')
      .set({ status: 'authorized', retry: 0, next_payment_at: next, next_try_at: next, updated_at: now })
      .where('id', '=', paused.id)
      .returningAll()
      .executeTakeFirstOrThrow()
    const key = `${agreement.id}:authorized:${now.toISOString()}`
    await emit(root, { kind: 'agreement', key, at: now, agreement })
  }

  async #approved(index: number): Promise<{ id: string; amount: string; refunded: string } | undefined> {
    const rows = await this.#app.database.root
      .selectFrom('sandbox_payments')
      .select(['id', 'amount', 'refunded'])
      .where('store_id', '=', this.#me.shop.id)
      .where('status', '=', 'approved')
      .where('amount', '>', '0')
      .orderBy('position', 'desc')
      .execute()
    return rows.at(index % Math.max(1, rows.length))
  }

  async #chargeBack(index: number): Promise<void> {
    const payment = await this.#approved(index)
    if (!payment) return
    await this.#app.database.root
      .updateTable('sandbox_payments')
      .set({ charge_back_at: this.#app.clock.now() })
      .where('id', '=', payment.id)
      .execute()
  }

  async #giveBack(index: number): Promise<void> {
    const payment = await this.#approved(index)
    if (payment && this.#mode === 'up') await this.#sandbox.refund(payment.id)
  }

  async #givePart(index: number, share: number): Promise<void> {
    const payment = await this.#approved(index)
    if (!payment || this.#mode !== 'up') return
    const left = toCents(payment.amount) - toCents(payment.refunded)
    const part = larger((left * BigInt(share)) / 1000n, 1n)
    await this.#sandbox.refundPart(payment.id, toMoney(part))
  }

  async #use(units: number): Promise<void> {
    const { limit, used, reserved } = await readCurrentCycle(this.#ctx)
    if (used + reserved + units + 1 > limit) return
    const id = await metering.reserve(this.#ctx, units + 1, 'direct')
    await metering.commit(
      this.#ctx,
      id,
      Array.from({ length: units }, () => ({
        messageId: this.#ctx.newId(),
        channel: 'messaging' as const,
        source: 'direct' as const,
        sourceId: null,
        phone: null,
        email: null,
        providerMessageId: null,
        status: 'sent' as const,
        sentAt: this.#ctx.now(),
      })),
    )
  }

  /** Stops at each due instant, so that every sum can be checked to the cent. */
  async #wait(hours: number): Promise<void> {
    const until = this.#app.clock.ms() + hours * hourMs
    while (this.#app.clock.ms() < until) {
      const next = await this.#nextInstant()
      await this.#app.setClock(new Date(Math.min(until, next)))
      await this.#background()
      await this.#check()
    }
  }

  async #nextInstant(): Promise<number> {
    const { root } = this.#app.database
    const { row, now } = await look(this.#app, this.#ctx)
    const agreements = await root
      .selectFrom('sandbox_agreements')
      .select('next_try_at as at')
      .where('store_id', '=', this.#me.shop.id)
      .where('status', '=', 'authorized')
      .execute()
    const disputes = await root
      .selectFrom('sandbox_payments')
      .select('charge_back_at as at')
      .where('store_id', '=', this.#me.shop.id)
      .execute()
    const instants = [
      ...agreements.map((each) => each.at),
      ...disputes.map((each) => each.at),
      row.current_period_end,
      row.grace_ends_at,
      row.ends_at,
      row.paused_at,
      row.trial_ends_at,
    ]
    const ahead = instants.flatMap((at) => (at && at > now ? [at.getTime()] : []))
    return Math.min(...ahead, Number.MAX_SAFE_INTEGER)
  }

  /** Runs jobs without waiting for their schedule. */
  async #background(): Promise<void> {
    for (let round = 0; round < 60; round += 1) {
      const made = this.#mode === 'up' ? await this.#sandbox.runDue() : 0
      if (!this.#isHeld) await this.#deliver('in-order')
      if (this.#isAsleep) {
        if (made === 0) return
        continue
      }
      await tick(this.#system, new AbortController().signal)
      await this.#unlessDown(() =>
        this.#isHeld ? runTasks(this.#ctx).then(() => updateNextAmount(this.#ctx)) : reconcile(this.#ctx),
      )
      if (!this.#isHeld) await this.#deliver('in-order')
      if (this.#isPutOff && this.isQuiet) await this.#comesAgain()
      else if (made === 0) return
    }
    throw new Error('The provider never comes to rest')
  }

  async #comesAgain(): Promise<void> {
    this.#isPutOff = false
    this.#isExact = false
    await this.#app.setClock(new Date(this.#app.clock.ms() + hourMs))
    await applyDueEvents(this.#system, new AbortController().signal)
  }

  async #unlessDown(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (this.#mode === 'up') throw error
    }
  }

  /** Lost events are found by the reconciliation with the provider, which is due then. */
  async #nextDay(): Promise<void> {
    await this.#ctx.db
      .updateTable('subscriptions')
      .set({ followed_at: new Date(this.#app.clock.ms() - 24 * hourMs) })
      .where('followed_at', '>', new Date(this.#app.clock.ms() - 24 * hourMs))
      .execute()
  }

  async #deliver(order: Order): Promise<void> {
    const events: BillingEvent[] = []
    for await (const { headers, body } of this.#sandbox.undelivered(this.#me.shop.id))
      events.push(...parseHook(this.#secret, headers, body))
    if (order === 'lost') return
    if (order === 'reversed') events.reverse()
    const delivered = order === 'half-lost' ? events.filter((_, index) => index % 2 === 1) : events
    for (const event of order === 'twice' ? delivered.flatMap((each) => [each, each]) : delivered) {
      const { headers, body } = signHook(this.#secret, [event])
      const request = new Request('http://localhost/hooks/billing/sandbox', {
        method: 'POST',
        headers,
        body: Buffer.from(body),
      })
      expect((await this.#app.fetch(request, { ip: '127.0.0.1' })).status).toBe(200)
      const isApplied = await applyEvents(this.#system, 'billing', 'sandbox', [event.key])
      // A charge may arrive before its checkout: it is delivered again.
      if (!isApplied) expect(event.kind, event.key).toBe('payment')
      this.#isPutOff ||= !isApplied
    }
  }

  async #check(): Promise<void> {
    const seen = await look(this.#app, this.#ctx)
    await this.#checkAlways(seen)
    if (!this.isQuiet) {
      this.#isExact = false
      return
    }
    await this.#checkProvider(seen)
    this.#checkMoney(this.#quiet, seen)
    this.#checkUsage(this.#quiet, seen)
    this.#quiet = seen
    this.#isExact = true
    this.#promised = zero
    this.#paidSince = false
  }

  async #checkAlways({ row, now }: Seen): Promise<void> {
    const shown = await checkReadings(this.#me, now)
    const entitled = await readEntitlement(this.#ctx)
    expect([shown.status, shown.canWrite]).toEqual([entitled.status, entitled.canWrite])
    expect([entitled.status, entitled.canWrite]).toEqual([
      statusAt(row, now.getTime()),
      canWriteAt(statusAt(row, now.getTime())),
    ])
    expect(shown.planId).toBe(entitled.planId)
    expect(shown.creditBalance).toBeGreaterThanOrEqual(0)
    expect(shown.nextChargeAmount ?? 0).toBeGreaterThanOrEqual(0)
    const payments = await this.#ctx.db.selectFrom('payments').selectAll().execute()
    const explained = payments.reduce((sum, each) => sum + toCents(each.balance_change), zero)
    expect(explained, 'the payments do not explain the balance').toBe(toCents(row.credit_balance))
    if (row.provider !== null && row.period_cost !== null && toCents(row.period_cost) > zero)
      expect(
        payments.map((each) => each.period_end?.toISOString()),
        'nothing paid for the period',
      ).toContain(row.current_period_end.toISOString())
    for (const each of payments) {
      const amounts = [each.amount, each.discount, each.credit_applied].map(Number)
      expect(Math.min(...amounts), JSON.stringify(each)).toBeGreaterThanOrEqual(0)
    }
    // A coupon's remaining charges only decrease, since it starts once.
    const { coupon } = shown
    if (coupon?.remainingCycles !== undefined && coupon?.remainingCycles !== null) {
      const least = this.#remaining.get(coupon.code) ?? Number.MAX_SAFE_INTEGER
      expect(coupon.remainingCycles, `${coupon.code} counts again`).toBeLessThanOrEqual(least)
      this.#remaining.set(coupon.code, coupon.remainingCycles)
    } else if (this.#remaining.size > 0) {
      for (const code of this.#remaining.keys()) if (coupon?.code !== code) this.#remaining.set(code, 0)
    }
    const open = await this.#ctx.db
      .selectFrom('checkouts')
      .select('id')
      .where('status', '=', 'open')
      .execute()
    expect(open.length).toBeLessThanOrEqual(1)
  }

  /** The provider's state matches ours. */
  async #checkProvider({ row, now }: Seen): Promise<void> {
    const { root } = this.#app.database
    const storeId = this.#me.shop.id
    const agreements = await root
      .selectFrom('sandbox_agreements')
      .selectAll()
      .where('store_id', '=', storeId)
      .where('status', '=', 'authorized')
      .execute()
    // An agreement paused and resumed by the payer is active again with its next charge.
    const letGoOn = row.status === 'paused' && row.pause_reason === 'provider'
    const isCharged = row.status === 'active' || row.status === 'past-due' || letGoOn
    expect(
      agreements.map((each) => each.id).filter((id) => !isCharged || id !== row.agreement_id),
      `charged by what should be over; ${row.status}`,
    ).toEqual([])
    const shown = await this.#me.read(getSubscription)
    const [agreement] = agreements
    if (row.status === 'active' && agreement) expect(shown.nextChargeAmount).toBe(Number(agreement.amount))
    if (row.status === 'active' && row.provider !== null && row.paused_at === null)
      expect(agreements, 'goes on, and nobody is charged').toHaveLength(1)
    if (agreement && shown.nextChargeAt !== null)
      expect([shown.status, shown.nextChargeAt]).toEqual([
        shown.status,
        (row.status === 'active' ? agreement.next_payment_at : agreement.next_try_at)?.toISOString(),
      ])
    const pages = await root
      .selectFrom('sandbox_checkouts')
      .select(['id', 'checkout_id'])
      .where('store_id', '=', storeId)
      .where('status', '=', 'open')
      .where('expires_at', '>', now)
      .execute()
    const ours = await this.#ctx.db
      .selectFrom('checkouts')
      .select('id')
      .where('status', '=', 'open')
      .execute()
    expect(
      pages
        .map((each) => each.checkout_id)
        // Nobody has the address of a page that timed out.
        .filter((id) => this.#pages.some((each) => each.id === id) && !ours.some((each) => each.id === id)),
      'open at the provider alone',
    ).toEqual([])
    const [there, here] = await Promise.all([
      root
        .selectFrom('sandbox_payments')
        .select(['id', 'status', 'refunded'])
        .where('store_id', '=', storeId)
        .execute(),
      this.#ctx.db
        .selectFrom('payments')
        .select(['provider_payment_id as id', 'status', 'refunded'])
        .execute(),
    ])
    const known = new Map(here.map((each) => [each.id, [each.status, each.refunded]]))
    for (const { id, status, refunded } of there)
      expect([id, known.get(id)]).toEqual([id, [status === 'charged-back' ? 'refunded' : status, refunded]])
  }

  /** Payments less refunds equal the used and held amounts. */
  #checkMoney(from: Seen, to: Seen): void {
    const { now, row } = to
    const past = advanceTo(from.row, now).row
    // A late event was paid, or refunded, when more time was left.
    const before = larger(holdingsAt(past, now), this.#isExact ? zero : holdingsAt(from.row, from.now))
    const after = holdingsAt(row, now)
    let paid = zero
    let taken = zero
    let later = zero
    for (const [id, { amount, back, isIn }] of to.payments) {
      if (isIn && !from.payments.get(id)?.isIn) paid += amount - back
    }
    const wasIn = [...from.payments].filter(([, each]) => each.isIn)
    const gone = wasIn.filter(([id]) => !to.payments.get(id)!.isIn)
    for (const [, each] of gone) taken += each.amount - each.back
    const parts = wasIn.filter(
      ([id, each]) => to.payments.get(id)!.isIn && to.payments.get(id)!.back > each.back,
    )
    for (const [id, each] of parts) taken += to.payments.get(id)!.back - each.back
    const touched = [...gone, ...parts].map(([, each]) => each.at.getTime())
    const first = Math.min(...touched, Number.MAX_SAFE_INTEGER)
    for (const { amount, back, isIn, at } of to.payments.values())
      if (isIn && at.getTime() >= first) later += amount - back
    const summary = `${from.now.toISOString()} ${from.row.status} ${before} + ${paid} - ${taken} (promised ${this.#promised}) -> ${now.toISOString()} ${row.status} ${after}`
    const cent = 3n
    if (taken === zero) {
      expect(after <= before + paid + this.#promised + cent, `credit out of nothing: ${summary}`).toBe(true)
    } else {
      const most = larger(larger(before + paid - taken, later), zero) + this.#promised + cent
      expect(after <= most, `what was taken back is held still: ${summary}`).toBe(true)
      const isOver =
        parts.length === 0
          ? before > later
          : gone.length === 0 && unusedAt(past, now) > cent && unusedAt(row, now) === zero
      if (this.#isExact && isOver)
        expect(['paused', 'ended'], `access without money: ${summary}`).toContain(
          statusAt(row, now.getTime()),
        )
    }
    if (!this.#isExact) return
    const begun = row.current_period_start.getTime() !== past.current_period_start.getTime()
    const cost = row.period_cost === null ? zero : toCents(row.period_cost)
    const used = begun || this.#paidSince ? cost - unusedAt(row, now) : zero
    const least = before + paid - taken - used - cent
    expect(
      after >= least || (gone.length > 0 && after >= zero),
      `money for nothing: ${summary}, ${used} used`,
    ).toBe(true)
  }

  /** A cycle that begins during a paid one takes over its usage. */
  #checkUsage(from: Seen, to: Seen): void {
    if (from.row.plan_id === 'trial' || to.now >= from.cycleEnd) return
    expect(to.used, 'the used quota was reset').toBeGreaterThanOrEqual(from.used)
  }
}

const writes: readonly Operation[] = [createPreapproval, resumeSubscription, updateCard, updatePlan]

const wayBack: Record<SubscriptionStatus, Operation> = {
  trialing: createPreapproval,
  active: resumeSubscription,
  'past-due': updateCard,
  paused: resumeSubscription,
  cancelled: createPreapproval,
  ended: createPreapproval,
}

const toBody = ({ plan, cycle, coupon }: Wish): Record<string, unknown> => ({
  ...(plan === null ? {} : { planId: plan }),
  ...(cycle === null ? {} : { billingCycle: cycle }),
  ...(coupon === null ? {} : { couponCode: coupon }),
})

async function look(app: TestApp, ctx: Context): Promise<Seen> {
  const now = app.clock.now()
  const written = await ctx.db.selectFrom('subscriptions').selectAll().executeTakeFirstOrThrow()
  const payments = await app.database.root
    .selectFrom('sandbox_payments')
    .select(['id', 'status', 'amount', 'refunded', 'created_at'])
    .where('store_id', '=', ctx.store.id)
    .execute()
  const cycle = await readCurrentCycle(ctx)
  return {
    now,
    row: advanceTo(written, now).row,
    payments: new Map(
      payments.map((each) => [
        each.id,
        {
          amount: toCents(each.amount),
          back: toCents(each.refunded),
          isIn: each.status === 'approved',
          at: each.created_at,
        },
      ]),
    ),
    used: cycle.used + cycle.reserved,
    cycleEnd: cycle.endsAt,
  }
}
