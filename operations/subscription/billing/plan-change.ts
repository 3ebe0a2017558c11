import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import type { planChange } from '../schema.ts'
import type { PlanChangeResult } from './change-plan.ts'
import { readCheckout, readSubscription } from './views.ts'

/** The result of a plan change or of its preview. */
export async function toPlanChangeView(
  ctx: Context,
  { offer, checkoutId }: PlanChangeResult,
  isPreview: boolean,
): Promise<z.infer<typeof planChange>> {
  const { credit, charge, amount, currency } = offer.quote
  return {
    outcome: offer.outcome,
    isPreview,
    proration: { credit: Number(credit), charge: Number(charge), amountDue: Number(amount), currency },
    effectiveAt: offer.effectiveAt?.toISOString() ?? null,
    checkout: checkoutId === null ? null : await readCheckout(ctx, checkoutId),
    subscription: await readSubscription(ctx),
  }
}
