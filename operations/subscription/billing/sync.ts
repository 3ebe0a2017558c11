/** Keeps what the provider will charge next what it should: coupons and credit run out, plans change. */

import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { type SubscriptionRow, scheduledOf } from '../moves.ts'
import { billing } from '../provider/connection.ts'
import { reasonOf } from '../provider/reason.ts'
import { isToldOtherwise, lockRow, readRow, saveRow } from '../rows.ts'

/** Tells the provider the amount of the next charge where it knows another. Throws what the provider throws. */
export async function updateAmount(ctx: Context): Promise<void> {
  const row = await readRow(ctx)
  const { agreement_id: id, next_charge_amount: amount } = row
  if (!id || amount === null || !isToldOtherwise(row)) return
  const { port } = await billing(ctx, row.provider ?? undefined)
  const told = await port.updateAgreement(id, {
    amount,
    reason: reasonOf(nextTerms(row)),
    idempotencyKey: ctx.newId(),
  })
  await ctx.transaction(async (tx) => {
    const current = await lockRow(tx)
    if (current.agreement_id === id) await saveRow(tx, current, { agreement_amount: told.amount })
  })
}

function nextTerms(row: SubscriptionRow): { planId: string; billingCycle: string } {
  const scheduled = scheduledOf(row)
  return scheduled ?? { planId: row.plan_id, billingCycle: row.billing_cycle ?? 'monthly' }
}

/** The same for somebody who waits: what fails is left to `billing-reconcile`, which is queued. */
export async function syncAmount(ctx: Context): Promise<void> {
  try {
    await updateAmount(ctx)
  } catch (error) {
    if (error instanceof Refused) ctx.log.error({ err: error }, 'the provider refuses the next amount')
    else ctx.log.warn({ err: error }, 'the provider is told the next amount in the background')
  }
}
