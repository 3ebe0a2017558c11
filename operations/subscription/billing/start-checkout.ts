/** Starts a checkout for a first plan, for resuming a subscription, or for replacing the card. */

import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { requireCoupon } from '../coupons.ts'
import { amounts, planCurrency } from '../money.ts'
import { getBilling } from '../provider/connection.ts'
import { readRow } from '../rows.ts'
import { computeNextCharge, type SubscriptionRow } from '../transitions.ts'
import { openCardUpdate, openCheckout } from './checkouts.ts'
import {
  isAgreementGone,
  type PlanRequest,
  quoteNewAgreement,
  quoteResumption,
  refuseStatus,
  resolveTarget,
} from './offers.ts'
import { finishRequests, syncFromProvider, trySyncFromProvider } from './reconcile.ts'

type CheckoutOptions = PlanRequest & { couponCode?: string | undefined }
type RowCheck = (row: SubscriptionRow) => boolean

/**
 * Allowed in `trialing`, `cancelled` and `ended`, and in `past-due` when the agreement has ended. Credits unused paid time.
 * Returns the checkout's id.
 */
export const subscribe = (ctx: Context, options: CheckoutOptions): Promise<string> =>
  startCheckout(
    ctx,
    'subscribe',
    options,
    (row) => ['trialing', 'cancelled', 'ended'].includes(row.status) || isUnpayable(row),
  )

/** Allowed in `paused`, or when the agreement has ended. Charges missed meanwhile are not collected. */
export const resume = (ctx: Context, options: CheckoutOptions): Promise<string> =>
  startCheckout(ctx, 'resume', options, (row) => row.status === 'paused' || isAgreementGone(row))

/** True if a charge is overdue but no agreement is left to charge it: only a new agreement helps. */
const isUnpayable: RowCheck = (row) => row.status === 'past-due' && isAgreementGone(row)

async function startCheckout(
  ctx: Context,
  kind: 'subscribe' | 'resume',
  options: CheckoutOptions,
  canFrom: RowCheck,
): Promise<string> {
  await finishRequests(ctx)
  const row = await readEligibleRow(ctx, canFrom)
  const target = resolveTarget(row, options)
  const currency = row.currency ?? planCurrency(ctx.store.currency)
  const coupon = await requireCoupon(ctx, options.couponCode, { ...target, currency })
  const { port } = await getBilling(ctx)
  const { chargeNow: canCharge, startsLater } = port.capabilities
  return openCheckout(ctx, kind, (locked) => {
    if (!canFrom(locked)) throw refuseStatus(locked)
    const given = { storeCurrency: ctx.store.currency, coupon, now: ctx.now() }
    return locked.status === 'active'
      ? quoteResumption(locked, options, { ...given, canCharge, startsLater })
      : quoteNewAgreement(locked, target, { ...given, keepsCoupon: false })
  })
}

/** Reads the row. Syncs from the provider before refusing, because the event of the payer's action may be missing. */
async function readEligibleRow(ctx: Context, canFrom: RowCheck): Promise<SubscriptionRow> {
  const row = await readRow(ctx)
  if (canFrom(row)) return row
  const goesOn = row.status === 'active' || row.status === 'past-due'
  if (!goesOn || row.agreement_id === null || isAgreementGone(row)) throw refuseStatus(row)
  await trySyncFromProvider(ctx)
  const current = await readRow(ctx)
  if (!canFrom(current)) throw refuseStatus(current)
  return current
}

/** Opens a card-update page and returns the checkout's id. In `past-due` the debt is charged to the new card at once. */
export async function updateCard(ctx: Context): Promise<string> {
  const { port } = await getBilling(ctx, (await readRow(ctx)).provider ?? undefined)
  const decide = (row: SubscriptionRow) => {
    if ((row.status !== 'active' && row.status !== 'past-due') || isAgreementGone(row))
      throw refuseStatus(row)
    const { agreement_id: agreementId, provider } = row
    if (!agreementId || !provider) throw refuse('conflict', 'Nothing is charged: there is no card to replace')
    if (!port.capabilities.cardUpdate) {
      throw refuse(
        'conflict',
        `${provider} has no page for another card: change it in your account there, or cancel and subscribe again`,
      )
    }
    const owed = row.status === 'past-due' ? computeNextCharge(row) : null
    return { agreementId, provider, owed: owed?.amount ?? amounts.toMoney(0n) }
  }
  try {
    return await openCardUpdate(ctx, decide)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // The agreement was paused or ended at the provider, and its event has not arrived.
    await syncFromProvider(ctx)
    decide(await readRow(ctx))
    throw error
  }
}
