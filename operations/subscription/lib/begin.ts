/** What opens a checkout on its own: a first plan, a paused one resumed, another card. */

import { amounts, connections } from '#operations/store/lib/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { openCardUpdate, openCheckout } from './checkouts.ts'
import { requireCoupon } from './coupons.ts'
import { planCurrency } from './money.ts'
import { nextCharge } from './moves.ts'
import { type Asked, newAgreement, targetOf, wrongStatus } from './offers.ts'
import { settleAsked } from './reconcile.ts'
import { readRow } from './rows.ts'

type Wanted = Asked & { couponCode?: string | undefined }

/** From `trialing`, `cancelled` and `ended`; unused paid time is credited. Answers the checkout's id. */
export const subscribe = (ctx: Context, wanted: Wanted): Promise<string> =>
  open(ctx, 'subscribe', wanted, ['trialing', 'cancelled', 'ended'])

/** From `paused`. What was missed is not asked for. */
export const resume = (ctx: Context, wanted: Wanted): Promise<string> =>
  open(ctx, 'resume', wanted, ['paused'])

async function open(
  ctx: Context,
  kind: 'subscribe' | 'resume',
  wanted: Wanted,
  from: readonly string[],
): Promise<string> {
  await settleAsked(ctx)
  const row = await readRow(ctx)
  if (!from.includes(row.status)) throw wrongStatus(row.status)
  const target = targetOf(row, wanted)
  const currency = row.currency ?? planCurrency(ctx.store.currency)
  const coupon = await requireCoupon(ctx, wanted.couponCode, { ...target, currency })
  return openCheckout(ctx, kind, (locked) => {
    if (!from.includes(locked.status)) throw wrongStatus(locked.status)
    const given = { storeCurrency: ctx.store.currency, coupon, keepsCoupon: false, now: ctx.now() }
    return newAgreement(locked, target, given)
  })
}

/** In `past-due` what is owed is charged to the new card at once. Answers the checkout's id. */
export async function updateCard(ctx: Context): Promise<string> {
  const { port } = await connections.billing(ctx, (await readRow(ctx)).provider ?? undefined)
  return openCardUpdate(ctx, (row) => {
    if (row.status !== 'active' && row.status !== 'past-due') throw wrongStatus(row.status)
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
  })
}
