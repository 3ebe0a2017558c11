/** Cancels the subscription at the provider first, then in our database. Access ends with the paid period. */

import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { addRequest, closeIntent, type IntentRow, releaseIntent } from '../intents.ts'
import { closeOpenCheckouts } from '../open-checkouts.ts'
import { getBilling } from '../provider/connection.ts'
import { lockRow, saveRow } from '../rows.ts'
import type { SubscriptionRow } from '../transitions.ts'
import { tryTasks } from './tasks.ts'

export interface CancelReason {
  reason?: string | undefined
  comment?: string | undefined
}

/**
 * Cancels the subscription. Refuses with `conflict` if it is cancelled or ended already. Throws when the provider does not
 * answer: either nothing has changed, or `billing-reconcile` completes the cancellation.
 */
export async function cancel(ctx: Context, why: CancelReason): Promise<void> {
  const intent = await ctx.transaction((tx) => startCancellation(tx, why))
  if (intent) await cancelAtProvider(ctx, intent)
  await tryTasks(ctx)
}

interface StartedCancellation {
  id: string
  provider: string
  agreementId: string
}

/** Writes the cancel intent. Returns null when no provider is involved: the subscription is then cancelled already. */
async function startCancellation(tx: Context, why: CancelReason): Promise<StartedCancellation | null> {
  const row = await lockRow(tx)
  if (row.status === 'cancelled' || row.status === 'ended') {
    throw refuse('conflict', `The subscription is ${row.status} already`)
  }
  const { agreement_id: agreementId, provider } = row
  if (!agreementId || !provider || row.status === 'trialing') {
    await writeCancellation(tx, row, why)
    return null
  }
  const id = await addRequest(tx, { kind: 'cancel', provider, agreementId, terms: why })
  return { id, provider, agreementId }
}

async function cancelAtProvider(
  ctx: Context,
  { id, provider, agreementId }: StartedCancellation,
): Promise<void> {
  const { port } = await getBilling(ctx, provider)
  try {
    await port.cancelAgreement(agreementId)
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'not-found')) {
      await recordFailedCall(ctx, id, error)
      throw error
    }
    // The provider does not know the agreement, so there is nothing to cancel.
  }
  await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    const intent = await tx.db
      .selectFrom('billing_intents')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    await finishCancel(tx, row, intent)
  })
}

/** Drops the intent if the call certainly had no effect. An indeterminate call is left to the reconciliation. */
export async function recordFailedCall(ctx: Context, intentId: string, error: unknown): Promise<void> {
  const failure = error instanceof Error ? error.message : String(error)
  const isCertain =
    error instanceof Refused ||
    error instanceof Throttled ||
    (error instanceof Unavailable && error.accepted === 'no')
  if (isCertain) await closeIntent(ctx, intentId, 'dropped', failure)
  else await releaseIntent(ctx, intentId, failure)
}

/**
 * Cancels the subscription after its agreement was cancelled at the provider. Idempotent; must run under the lock of the
 * subscription.
 */
export async function finishCancel(tx: Context, row: SubscriptionRow, intent: IntentRow): Promise<void> {
  if (!(await closeIntent(tx, intent.id, 'done'))) return
  if (row.status === 'cancelled' || row.status === 'ended') return
  if (row.agreement_id === intent.agreement_id) await writeCancellation(tx, row, intent.terms as CancelReason)
}

/** Ends the subscription with its paid period or trial. `past-due` and `paused` have no paid time and end at once. */
async function writeCancellation(
  tx: Context,
  row: SubscriptionRow,
  { reason, comment }: CancelReason,
): Promise<void> {
  const now = tx.now()
  const isPaid = row.status === 'active' || row.status === 'trialing'
  const endsAt = row.status === 'trialing' ? row.trial_ends_at : row.current_period_end
  await closeOpenCheckouts(tx)
  await saveRow(tx, row, {
    status: isPaid ? 'cancelled' : 'ended',
    cancelled_at: now,
    ends_at: isPaid ? endsAt : now,
    cancel_reason: reason ?? null,
    cancel_comment: comment ?? null,
    scheduled_change: null,
    grace_ends_at: null,
    paused_at: null,
    pause_reason: null,
    agreement_status: row.agreement_id && 'cancelled',
  })
}
