/**
 * Intents: calls to the provider, stored before they are made (an outbox). A request is a call that the merchant asked for,
 * one at a time. A task is a background call, retried until it is done.
 */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { refuseDuplicate } from '#runtime/database/rows'
import { minuteMs } from '#runtime/durations'
import { refuseTemporarily } from '#runtime/errors'
import { billingReconcile } from './handles.ts'

export type IntentRow = Row<'billing_intents'>
export type RequestKind = 'cancel' | 'charge' | 'schedule'
export type TaskKind = 'cancel-agreement' | 'pause-agreement' | 'close-checkout' | 'refund' | 'collect'
export const requestKinds: readonly RequestKind[] = ['cancel', 'charge', 'schedule']

/** Lease of the process that made the request. When it expires, the reconciliation takes over. */
const leaseMs = minuteMs

/**
 * Writes a request of the merchant and queues its reconciliation for when the lease runs out. Refuses with `conflict` while
 * an earlier request is open. Must commit before the provider is called.
 */
export async function addRequest(
  tx: Context,
  intent: { kind: RequestKind; provider: string; agreementId: string; terms: object },
): Promise<string> {
  const now = tx.now()
  const id = tx.newId()
  const heldUntil = new Date(now.getTime() + leaseMs)
  const insert = tx.db.insertInto('billing_intents').values({
    id,
    kind: intent.kind,
    key: id,
    provider: intent.provider,
    agreement_id: intent.agreementId,
    terms: JSON.stringify(intent.terms),
    held_until: heldUntil,
    created_at: now,
    updated_at: now,
  })
  const busy = refuseTemporarily(
    'conflict',
    'Another change of the subscription is under way: try again in a minute',
  )
  await refuseDuplicate('billing_intents_asked', busy, () => insert.execute())
  await tx.queue(billingReconcile, { intentId: id }, { at: heldUntil })
  return id
}

/** Adds a background task, once for each key. */
export async function addTask(
  tx: Context,
  task: { kind: TaskKind; provider: string; agreementId: string; subject?: string; terms?: object },
): Promise<void> {
  const now = tx.now()
  await tx.db
    .insertInto('billing_intents')
    .values({
      id: tx.newId(),
      kind: task.kind,
      key: `${task.kind}:${task.subject ?? task.agreementId}`,
      provider: task.provider,
      agreement_id: task.agreementId,
      terms: JSON.stringify(task.terms ?? {}),
      held_until: now,
      created_at: now,
      updated_at: now,
    })
    .onConflict((conflict) => {
      const known = conflict.columns(['store_id', 'key'])
      // A task that moves money runs once for each key. A task that only sets a state may be reopened.
      return task.kind === 'refund' || task.kind === 'collect'
        ? known.doNothing()
        : known.doUpdateSet({ status: 'open', updated_at: now })
    })
    .execute()
  await tx.queue(billingReconcile, {})
}

/** Open intents, oldest first. */
export const listOpenIntents = (ctx: Context, kinds: readonly string[]): Promise<IntentRow[]> =>
  ctx.db
    .selectFrom('billing_intents')
    .selectAll()
    .where('status', '=', 'open')
    .where('kind', 'in', kinds)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

export const findIntent = (ctx: Context, id: string): Promise<IntentRow | undefined> =>
  ctx.db.selectFrom('billing_intents').selectAll().where('id', '=', id).executeTakeFirst()

/** Closes an open intent; false when it was closed before. */
export async function closeIntent(
  ctx: Context,
  id: string,
  status: 'done' | 'dropped',
  failure: string | null = null,
): Promise<boolean> {
  const closed = await ctx.db
    .updateTable('billing_intents')
    .set({ status, failure, updated_at: ctx.now() })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .returning('id')
    .executeTakeFirst()
  return closed !== undefined
}

/** Releases the lease of an intent with an indeterminate outcome, so that the intent is reconciled at once. */
export async function releaseIntent(ctx: Context, id: string, failure: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    await tx.db
      .updateTable('billing_intents')
      .set({ held_until: tx.now(), failure, updated_at: tx.now() })
      .where('id', '=', id)
      .execute()
    await tx.queue(billingReconcile, {})
  })
}

/** Records the failure of an intent that stays open and is retried. */
export async function recordRefusal(ctx: Context, id: string, failure: string): Promise<void> {
  await ctx.db
    .updateTable('billing_intents')
    .set({ failure, updated_at: ctx.now() })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .execute()
}
