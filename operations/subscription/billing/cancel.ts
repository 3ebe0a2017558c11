/** Cancelling: at the provider first, then here; access ends with what is paid for. */

import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { addAsked, closeIntent, type IntentRow, letGo } from '../intents.ts'
import type { SubscriptionRow } from '../moves.ts'
import { closeOpen } from '../open-checkouts.ts'
import { billing } from '../provider/connection.ts'
import { lockRow, saveRow } from '../rows.ts'
import { tryTasks } from './tasks.ts'

export interface CancelReason {
  reason?: string | undefined
  comment?: string | undefined
}

/**
 * Cancels the subscription. Refuses with `conflict` what is cancelled or ended already. A provider that does not answer
 * is thrown: nothing has changed then, or `billing-reconcile` finds out.
 */
export async function cancel(ctx: Context, why: CancelReason): Promise<void> {
  const intent = await ctx.transaction((tx) => begin(tx, why))
  if (intent) await carryOut(ctx, intent)
  await tryTasks(ctx)
}

interface Begun {
  id: string
  provider: string
  agreementId: string
}

/** Null where there is nothing to cancel at a provider: it is cancelled then. */
async function begin(tx: Context, why: CancelReason): Promise<Begun | null> {
  const row = await lockRow(tx)
  if (row.status === 'cancelled' || row.status === 'ended') {
    throw refuse('conflict', `The subscription is ${row.status} already`)
  }
  const { agreement_id: agreementId, provider } = row
  if (!agreementId || !provider || row.status === 'trialing') {
    await leave(tx, row, why)
    return null
  }
  const id = await addAsked(tx, { kind: 'cancel', provider, agreementId, terms: why })
  return { id, provider, agreementId }
}

async function carryOut(ctx: Context, { id, provider, agreementId }: Begun): Promise<void> {
  const { port } = await billing(ctx, provider)
  try {
    await port.cancelAgreement(agreementId)
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'not-found')) {
      await giveUp(ctx, id, error)
      throw error
    }
    // The provider knows of no such agreement: nothing is left to cancel there.
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

/** Not done for certain: dropped. Otherwise somebody has to look. */
export async function giveUp(ctx: Context, intentId: string, error: unknown): Promise<void> {
  const failure = error instanceof Error ? error.message : String(error)
  const isCertain =
    error instanceof Refused ||
    error instanceof Throttled ||
    (error instanceof Unavailable && error.accepted === 'no')
  if (isCertain) await closeIntent(ctx, intentId, 'dropped', failure)
  else await letGo(ctx, intentId, failure)
}

/** The agreement is cancelled at the provider: so is the subscription, once. Under its lock. */
export async function finishCancel(tx: Context, row: SubscriptionRow, intent: IntentRow): Promise<void> {
  if (!(await closeIntent(tx, intent.id, 'done'))) return
  if (row.status === 'cancelled' || row.status === 'ended') return
  if (row.agreement_id === intent.agreement_id) await leave(tx, row, intent.terms as CancelReason)
}

/** What is paid for is kept; in `past-due` and `paused` nothing is. */
async function leave(tx: Context, row: SubscriptionRow, { reason, comment }: CancelReason): Promise<void> {
  const now = tx.now()
  const isPaid = row.status === 'active' || row.status === 'trialing'
  const endsAt = row.status === 'trialing' ? row.trial_ends_at : row.current_period_end
  await closeOpen(tx)
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
