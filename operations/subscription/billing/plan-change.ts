import type { Context } from '#runtime/context'
import type { z } from '#runtime/schema'
import type { planChange } from '../schema.ts'
import type { Changed } from './change-plan.ts'
import { readCheckout, readSubscription } from './views.ts'

/** What came of a change, or would. */
export async function planChangeView(
  ctx: Context,
  { offer, checkoutId }: Changed,
  isPreview: boolean,
): Promise<z.infer<typeof planChange>> {
  const { credit, charge, amount, currency } = offer.terms
  return {
    outcome: offer.outcome,
    isPreview,
    proration: { credit: Number(credit), charge: Number(charge), amountDue: Number(amount), currency },
    effectiveAt: offer.effectiveAt?.toISOString() ?? null,
    checkout: checkoutId === null ? null : await readCheckout(ctx, checkoutId),
    subscription: await readSubscription(ctx),
  }
}
