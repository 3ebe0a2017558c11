/** Keeps the amount of the next charge at the provider up to date as coupons, credit and plans change. */

import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { getBilling } from '../provider/connection.ts'
import { buildReason } from '../provider/reason.ts'
import { isProviderAmountStale, lockRow, readRow, saveRow } from '../rows.ts'
import { getScheduledChange, type SubscriptionRow } from '../transitions.ts'

/** Sends the amount of the next charge if the provider's amount differs. Throws what the provider throws. */
export async function updateNextAmount(ctx: Context): Promise<void> {
  const row = await readRow(ctx)
  const { agreement_id: id, next_charge_amount: amount } = row
  if (!id || amount === null || !isProviderAmountStale(row)) return
  const { port } = await getBilling(ctx, row.provider ?? undefined)
  const updated = await port.updateAgreement(id, {
    amount,
    reason: buildReason(getNextTarget(row)),
    idempotencyKey: ctx.newId(),
  })
  await ctx.transaction(async (tx) => {
    const current = await lockRow(tx)
    if (current.agreement_id === id) await saveRow(tx, current, { agreement_amount: updated.amount })
  })
}

function getNextTarget(row: SubscriptionRow): { planId: string; billingCycle: string } {
  const scheduled = getScheduledChange(row)
  return scheduled ?? { planId: row.plan_id, billingCycle: row.billing_cycle ?? 'monthly' }
}

/** Like `updateNextAmount`, but does not throw: failures are logged and left to the queued `billing-reconcile`. */
export async function trySyncNextAmount(ctx: Context): Promise<void> {
  try {
    await updateNextAmount(ctx)
  } catch (error) {
    if (error instanceof Refused) ctx.log.error({ err: error }, 'update of the next charge refused')
    else ctx.log.warn({ err: error }, 'update of the next charge failed, retrying in the background')
  }
}
