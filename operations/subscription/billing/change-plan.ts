/** Previews or makes a plan change (rules 6 and 8): charges now, schedules or unschedules it, or opens a checkout. */

import type { Context } from '#runtime/context'
import { ApiError, refuse } from '#runtime/errors'
import { requireCoupon } from '../coupons.ts'
import { addRequest, findIntent, type IntentRow } from '../intents.ts'
import { amounts, planCurrency } from '../money.ts'
import { getBilling } from '../provider/connection.ts'
import type { BillingPort, CardSummary } from '../provider/port.ts'
import { buildReason } from '../provider/reason.ts'
import { buildScheduledChange, type Quote } from '../quote.ts'
import { lockRow, readRow, saveRow } from '../rows.ts'
import type { SubscriptionRow } from '../transitions.ts'
import { recordFailedCall } from './cancel.ts'
import { applyQuote, finishCharge } from './charge.ts'
import { changedMeanwhile, openCheckout } from './checkouts.ts'
import {
  buildOffer,
  type Offer,
  type OfferContext,
  type PlanRequest,
  quoteNewAgreement,
  refuseStatus,
  resolveTarget,
} from './offers.ts'
import { finishRequests, syncOverdueRenewal } from './reconcile.ts'
import { buildScheduleQuote, finishSchedule, type ScheduleQuote } from './schedule.ts'
import { trySyncNextAmount } from './sync.ts'

export interface ChangeRequest extends PlanRequest {
  couponCode?: string | undefined
  preview: boolean
}

export interface PlanChangeResult {
  offer: Offer
  /** Id of the opened checkout; null when none was needed. */
  checkoutId: string | null
}

/**
 * Changes the plan or its cycle, or previews the change. Refuses with `conflict` the current plan, a status without a plan
 * to change, and a declined card; with `bad_request` a coupon that cannot be redeemed.
 */
export async function changePlan(ctx: Context, request: ChangeRequest): Promise<PlanChangeResult> {
  if (request.planId === undefined && request.billingCycle === undefined) {
    throw refuse('bad_request', 'planId: is required, or billingCycle')
  }
  if (!request.preview) await finishRequests(ctx)
  await syncOverdueRenewal(ctx)
  const row = await readRow(ctx)
  const { provider, port } = await getBilling(ctx, row.provider ?? undefined)
  const { port: checkouts } = await getBilling(ctx)
  const target = resolveTarget(row, request)
  const currency = row.currency ?? planCurrency(ctx.store.currency)
  const coupon = await requireCoupon(ctx, request.couponCode, { ...target, currency })
  const decide = (from: SubscriptionRow): Offer =>
    decideOffer(from, request, {
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
      return decided.quote
    })
    return { offer, checkoutId }
  }
  const decided = await startChange(ctx, provider, decide)
  if (decided.outcome === 'checkout-required') throw changedMeanwhile()
  if (decided.intentId) await runIntent(ctx, provider, decided.intentId)
  if (decided.outcome === 'applied') await trySyncNextAmount(ctx)
  return { offer: decided, checkoutId: null }
}

function decideOffer(row: SubscriptionRow, request: PlanRequest, given: OfferContext): Offer {
  const target = resolveTarget(row, request)
  if (row.status === 'trialing') {
    const quote = quoteNewAgreement(row, target, { ...given, keepsCoupon: false })
    return { outcome: 'checkout-required', quote, effectiveAt: null }
  }
  if (row.status !== 'active') throw refuseStatus(row)
  return buildOffer(row, target, given)
}

type StartedChange = Offer & { intentId: string | null }

/** Under the lock of the subscription: applies a change that needs no provider call, otherwise writes an intent. */
async function startChange(
  ctx: Context,
  provider: string,
  decide: (row: SubscriptionRow) => Offer,
): Promise<StartedChange> {
  return ctx.transaction(async (tx): Promise<StartedChange> => {
    const row = await lockRow(tx)
    const offer = decide(row)
    const { outcome, quote } = offer
    if (outcome === 'checkout-required') return { ...offer, intentId: null }
    const agreementId = row.agreement_id
    if (outcome === 'applied' && amounts.toCents(quote.amount) > 0n) {
      const intent = { kind: 'charge', provider, agreementId: agreementId!, terms: quote } as const
      return { ...offer, intentId: await addRequest(tx, intent) }
    }
    if (outcome === 'applied') await applyQuote(tx, row, quote, provider, null)
    else if (!agreementId) await saveRow(tx, row, buildScheduledChange(row, quote))
    else {
      const intent = {
        kind: 'schedule',
        provider,
        agreementId,
        terms: buildScheduleQuote(row, quote),
      } as const
      return { ...offer, intentId: await addRequest(tx, intent) }
    }
    return { ...offer, intentId: null }
  })
}

async function runIntent(ctx: Context, provider: string, intentId: string): Promise<void> {
  const intent = (await findIntent(ctx, intentId))!
  const { port } = await getBilling(ctx, provider)
  try {
    if (intent.kind === 'schedule') return await updateNextCharge(ctx, port, intent)
    const failure = await charge(ctx, port, intent)
    if (failure === null) return
    throw cardDeclined(failure)
  } catch (error) {
    if (!(error instanceof ApiError)) await recordFailedCall(ctx, intentId, error)
    throw error
  }
}

async function updateNextCharge(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const agreement = await port.updateAgreement(intent.agreement_id, {
    amount: (intent.terms as ScheduleQuote).nextAmount,
    reason: buildReason(intent.terms as Quote),
    idempotencyKey: intent.id,
  })
  await ctx.transaction((tx) => finishSchedule(tx, intent.id, agreement.amount))
}

/** Charges the saved card. Returns null, or the reason why the card was declined. */
async function charge(ctx: Context, port: BillingPort, intent: IntentRow): Promise<string | null> {
  const { amount, currency } = intent.terms as Quote
  const reason = buildReason(intent.terms as Quote)
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

const cardDeclined = (reason: string) =>
  refuse(
    'conflict',
    `The card was declined (${reason}): nothing has changed. Use POST /subscription/card-update`,
  )
