/**
 * What a provider is asked to do, written down before it is asked: what the merchant asked for (one at a time), and
 * tasks that follow from something else and are tried until they are done.
 */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { unlessTaken } from '#runtime/database/rows'
import { minuteMs } from '#runtime/durations'
import { refuseForNow } from '#runtime/errors'
import { billingReconcile } from './handles.ts'

export type IntentRow = Row<'billing_intents'>
export type AskedKind = 'cancel' | 'charge' | 'schedule'
export type TaskKind = 'cancel-agreement' | 'pause-agreement' | 'close-checkout' | 'refund' | 'collect'
export const askedKinds: readonly AskedKind[] = ['cancel', 'charge', 'schedule']

/** Whoever asked is dead after this long: somebody else finishes. */
const heldMs = minuteMs

/**
 * Writes down what the merchant asked for, and queues the look at it should nobody finish it. Refuses with `conflict`
 * while an earlier one is under way. Commits on its own, before the provider is called.
 */
export async function addAsked(
  tx: Context,
  intent: { kind: AskedKind; provider: string; agreementId: string; terms: object },
): Promise<string> {
  const now = tx.now()
  const id = tx.newId()
  const heldUntil = new Date(now.getTime() + heldMs)
  const asked = tx.db.insertInto('billing_intents').values({
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
  const busy = refuseForNow(
    'conflict',
    'Another change of the subscription is under way: try again in a minute',
  )
  await unlessTaken('billing_intents_asked', busy, () => asked.execute())
  await tx.queue(billingReconcile, { intentId: id }, { at: heldUntil })
  return id
}

/** A task of the background; the same one twice is one. */
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
      // Money moves once for its key; what only sets a state may have to be set again.
      return task.kind === 'refund' || task.kind === 'collect'
        ? known.doNothing()
        : known.doUpdateSet({ status: 'open', updated_at: now })
    })
    .execute()
  await tx.queue(billingReconcile, {})
}

/** Open ones, oldest first. */
export const openIntents = (ctx: Context, kinds: readonly string[]): Promise<IntentRow[]> =>
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

/** Closes an open intent; false when somebody has closed it before. */
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

/** The provider's answer was lost: whoever comes next may look into it at once. */
export async function letGo(ctx: Context, id: string, failure: string): Promise<void> {
  await ctx.transaction(async (tx) => {
    await tx.db
      .updateTable('billing_intents')
      .set({ held_until: tx.now(), failure, updated_at: tx.now() })
      .where('id', '=', id)
      .execute()
    await tx.queue(billingReconcile, {})
  })
}

/** Not done, and still to be: the next look tries again. */
export async function noteRefusal(ctx: Context, id: string, failure: string): Promise<void> {
  await ctx.db
    .updateTable('billing_intents')
    .set({ failure, updated_at: ctx.now() })
    .where('id', '=', id)
    .where('status', '=', 'open')
    .execute()
}
