/** Changing the plan (rules 6 and 8): previewed, charged now, scheduled, dropped, or sent to a checkout. */

import { amounts } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refusal, refuse } from '#runtime/errors'
import { requireCoupon } from '../coupons.ts'
import { addAsked, findIntent, type IntentRow } from '../intents.ts'
import { planCurrency } from '../money.ts'
import type { SubscriptionRow } from '../moves.ts'
import { billing } from '../provider/connection.ts'
import type { BillingPort, CardSummary } from '../provider/port.ts'
import { reasonOf } from '../provider/reason.ts'
import { lockRow, readRow, saveRow } from '../rows.ts'
import { scheduledWith, type Terms } from '../terms.ts'
import { giveUp } from './cancel.ts'
import { applyTerms, finishCharge } from './charge.ts'
import { changedMeanwhile, openCheckout } from './checkouts.ts'
import {
  type Asked,
  changeOf,
  type Given,
  newAgreement,
  type Offer,
  targetOf,
  wrongStatus,
} from './offers.ts'
import { hearOfRenewal, settleAsked } from './reconcile.ts'
import { finishSchedule, intended, type ScheduleTerms } from './schedule.ts'
import { syncAmount } from './sync.ts'

export interface ChangeRequest extends Asked {
  couponCode?: string | undefined
  preview: boolean
}

export interface Changed {
  offer: Offer
  /** The checkout that was opened. */
  checkoutId: string | null
}

/**
 * Changes the plan or its cycle, or says what that would bring. Refuses with `conflict` what is so already, a status
 * without a plan to change, and a card that is declined; with `bad_request` a coupon that cannot be redeemed.
 */
export async function changePlan(ctx: Context, request: ChangeRequest): Promise<Changed> {
  if (request.planId === undefined && request.billingCycle === undefined) {
    throw refuse('bad_request', 'planId: is required, or billingCycle')
  }
  if (!request.preview) await settleAsked(ctx)
  await hearOfRenewal(ctx)
  const row = await readRow(ctx)
  const { provider, port } = await billing(ctx, row.provider ?? undefined)
  const { port: checkouts } = await billing(ctx)
  const target = targetOf(row, request)
  const currency = row.currency ?? planCurrency(ctx.store.currency)
  const coupon = await requireCoupon(ctx, request.couponCode, { ...target, currency })
  const decide = (from: SubscriptionRow): Offer =>
    offerFor(from, request, {
      storeCurrency: ctx.store.currency,
      coupon,
      canCharge: port.capabilities.chargeNow,
      startsLater: checkouts.capabilities.startsLater,
      now: ctx.now(),
    })
  const offer = decide(row)
  if (request.preview) return { offer, checkoutId: null }
  if (offer.outcome === 'checkout-required') {
    const checkoutId = await openCheckout(ctx, 'update-plan', (from) => {
      const decided = decide(from)
      if (decided.outcome !== 'checkout-required') throw changedMeanwhile()
      return decided.terms
    })
    return { offer, checkoutId }
  }
  const decided = await begin(ctx, provider, decide)
  if (decided.outcome === 'checkout-required') throw changedMeanwhile()
  if (decided.intentId) await carryOut(ctx, provider, decided.intentId)
  if (decided.outcome === 'applied') await syncAmount(ctx)
  return { offer: decided, checkoutId: null }
}

function offerFor(row: SubscriptionRow, asked: Asked, given: Given): Offer {
  const target = targetOf(row, asked)
  if (row.status === 'trialing') {
    const terms = newAgreement(row, target, { ...given, keepsCoupon: false })
    return { outcome: 'checkout-required', terms, effectiveAt: null }
  }
  if (row.status !== 'active') throw wrongStatus(row)
  return changeOf(row, target, given)
}

type Begun = Offer & { intentId: string | null }

/** Under the lock: what needs no provider is done, the rest written down as intended. */
async function begin(
  ctx: Context,
  provider: string,
  decide: (row: SubscriptionRow) => Offer,
): Promise<Begun> {
  return ctx.transaction(async (tx): Promise<Begun> => {
    const row = await lockRow(tx)
    const offer = decide(row)
    const { outcome, terms } = offer
    if (outcome === 'checkout-required') return { ...offer, intentId: null }
    const agreementId = row.agreement_id
    if (outcome === 'applied' && amounts.toCents(terms.amount) > 0n) {
      const intent = { kind: 'charge', provider, agreementId: agreementId!, terms } as const
      return { ...offer, intentId: await addAsked(tx, intent) }
    }
    if (outcome === 'applied') await applyTerms(tx, row, terms)
    else if (!agreementId) await saveRow(tx, row, scheduledWith(row, terms))
    else {
      const intent = { kind: 'schedule', provider, agreementId, terms: intended(row, terms) } as const
      return { ...offer, intentId: await addAsked(tx, intent) }
    }
    return { ...offer, intentId: null }
  })
}

async function carryOut(ctx: Context, provider: string, intentId: string): Promise<void> {
  const intent = (await findIntent(ctx, intentId))!
  const { port } = await billing(ctx, provider)
  try {
    if (intent.kind === 'schedule') return await tellSchedule(ctx, port, intent)
    const failure = await charge(ctx, port, intent)
    if (failure === null) return
    throw declined(failure)
  } catch (error) {
    if (!(error instanceof Refusal)) await giveUp(ctx, intentId, error)
    throw error
  }
}

async function tellSchedule(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const agreement = await port.updateAgreement(intent.agreement_id, {
    amount: (intent.terms as ScheduleTerms).nextAmount,
    reason: reasonOf(intent.terms as Terms),
    idempotencyKey: intent.id,
  })
  await ctx.transaction((tx) => finishSchedule(tx, intent.id, agreement.amount))
}

/** Null, or why the card was declined. */
async function charge(ctx: Context, port: BillingPort, intent: IntentRow): Promise<string | null> {
  const { amount, currency } = intent.terms as Terms
  const reason = reasonOf(intent.terms as Terms)
  const idempotencyKey = intent.id
  const answer = await port.chargeNow(intent.agreement_id, { amount, currency, reason, idempotencyKey })
  await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    const madeAt = intent.created_at.toISOString()
    await finishCharge(tx, row, intent, {
      id: answer.paymentId,
      agreementId: intent.agreement_id,
      checkoutId: null,
      idempotencyKey,
      status: answer.status,
      amount,
      currency,
      dueAt: null,
      attempt: 1,
      failureReason: answer.failureReason,
      paymentMethod: row.payment_method as CardSummary | null,
      receiptUrl: null,
      createdAt: madeAt,
      updatedAt: madeAt,
    })
  })
  return answer.status === 'rejected' ? (answer.failureReason ?? 'declined') : null
}

const declined = (reason: string) =>
  refuse(
    'conflict',
    `The card was declined (${reason}): nothing has changed. Use POST /subscription/card-update`,
  )
