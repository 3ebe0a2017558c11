/** What opens a checkout on its own: a first plan, a paused one resumed, another card. */

import { amounts } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused } from '#runtime/ports/errors'
import { requireCoupon } from '../coupons.ts'
import { planCurrency } from '../money.ts'
import { nextCharge, type SubscriptionRow } from '../moves.ts'
import { billing } from '../provider/connection.ts'
import { readRow } from '../rows.ts'
import { openCardUpdate, openCheckout } from './checkouts.ts'
import { type Asked, isForsaken, newAgreement, resumptionOf, targetOf, wrongStatus } from './offers.ts'
import { followProvider, settleAsked, tryFollowing } from './reconcile.ts'

type Wanted = Asked & { couponCode?: string | undefined }
type From = (row: SubscriptionRow) => boolean

/** From `trialing`, `cancelled` and `ended`; unused paid time is credited. Answers the checkout's id. */
export const subscribe = (ctx: Context, wanted: Wanted): Promise<string> =>
  open(
    ctx,
    'subscribe',
    wanted,
    (row) => ['trialing', 'cancelled', 'ended'].includes(row.status) || isUnpayable(row),
  )

/** From `paused`, or when nothing is charged any more. What was missed is not asked for. */
export const resume = (ctx: Context, wanted: Wanted): Promise<string> =>
  open(ctx, 'resume', wanted, (row) => row.status === 'paused' || isForsaken(row))

/** What is owed can be charged by no agreement: only another one helps. */
const isUnpayable: From = (row) => row.status === 'past-due' && isForsaken(row)

async function open(
  ctx: Context,
  kind: 'subscribe' | 'resume',
  wanted: Wanted,
  canFrom: From,
): Promise<string> {
  await settleAsked(ctx)
  const row = await rowFrom(ctx, canFrom)
  const target = targetOf(row, wanted)
  const currency = row.currency ?? planCurrency(ctx.store.currency)
  const coupon = await requireCoupon(ctx, wanted.couponCode, { ...target, currency })
  const { port } = await billing(ctx)
  const { chargeNow: canCharge, startsLater } = port.capabilities
  return openCheckout(ctx, kind, (locked) => {
    if (!canFrom(locked)) throw wrongStatus(locked)
    const given = { storeCurrency: ctx.store.currency, coupon, now: ctx.now() }
    return locked.status === 'active'
      ? resumptionOf(locked, wanted, { ...given, canCharge, startsLater })
      : newAgreement(locked, target, { ...given, keepsCoupon: false })
  })
}

/** What the payer did at the provider may not have been heard of: it is asked before anybody is sent away. */
async function rowFrom(ctx: Context, canFrom: From): Promise<SubscriptionRow> {
  const row = await readRow(ctx)
  if (canFrom(row)) return row
  const goesOn = row.status === 'active' || row.status === 'past-due'
  if (!goesOn || row.agreement_id === null || isForsaken(row)) throw wrongStatus(row)
  await tryFollowing(ctx)
  const told = await readRow(ctx)
  if (!canFrom(told)) throw wrongStatus(told)
  return told
}

/** In `past-due` what is owed is charged to the new card at once. Answers the checkout's id. */
export async function updateCard(ctx: Context): Promise<string> {
  const { port } = await billing(ctx, (await readRow(ctx)).provider ?? undefined)
  const decide = (row: SubscriptionRow) => {
    if ((row.status !== 'active' && row.status !== 'past-due') || isForsaken(row)) throw wrongStatus(row)
    const { agreement_id: agreementId, provider } = row
    if (!agreementId || !provider) throw refuse('conflict', 'Nothing is charged: there is no card to replace')
    if (!port.capabilities.cardUpdate) {
      throw refuse(
        'conflict',
        `${provider} has no page for another card: change it in your account there, or cancel and subscribe anew`,
      )
    }
    const owed = row.status === 'past-due' ? nextCharge(row) : null
    return { agreementId, provider, owed: owed?.amount ?? amounts.toMoney(0n) }
  }
  try {
    return await openCardUpdate(ctx, decide)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    // The agreement is paused or over at the provider, and we had not heard of it.
    await followProvider(ctx)
    decide(await readRow(ctx))
    throw error
  }
}
