/** Runs background calls to the provider, retried until done. Each call is safe to repeat. */

import { ingestEvents } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { closeIntent, type IntentRow, listOpenIntents, recordRefusal, type TaskKind } from '../intents.ts'
import { getBilling } from '../provider/connection.ts'
import type { BillingPort } from '../provider/port.ts'
import { readRow } from '../rows.ts'
import { refundWindowMs } from '../transitions.ts'

const taskKinds: readonly TaskKind[] = [
  'close-checkout',
  'cancel-agreement',
  'pause-agreement',
  'refund',
  'collect',
]

/** Payload of a `collect` task, stored as JSON. */
export interface CollectPayload {
  amount: string
  currency: string
  reason: string
  /** When the overdue charge was due. */
  dueAt: string
}

/** Runs every open task. Throws the first failure after all were tried, so that the job is retried. */
export async function runTasks(ctx: Context): Promise<void> {
  let failure: unknown = null
  for (const task of await listOpenIntents(ctx, taskKinds)) {
    try {
      await runTask(ctx, task)
    } catch (error) {
      failure ??= error
    }
  }
  if (failure) throw failure
}

/** Like `runTasks`, but does not throw: failures are logged and left to the queued `billing-reconcile`. */
export async function tryTasks(ctx: Context): Promise<void> {
  try {
    await runTasks(ctx)
  } catch (error) {
    ctx.log.warn({ err: error }, 'billing tasks failed, retrying in the background')
  }
}

async function runTask(ctx: Context, task: IntentRow): Promise<void> {
  const { port } = await getBilling(ctx, task.provider)
  try {
    await callProvider(ctx, port, task)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (task.kind === 'refund' && !isFinal(ctx, task, error)) {
      ctx.log.error({ err: error, paymentId: parseSubject(task) }, 'refund refused, retrying')
      return recordRefusal(ctx, task.id, error.code)
    }
    // The refusal is final: the agreement or payment is gone or never existed.
    ctx.log.warn(
      { err: error, kind: task.kind, agreementId: task.agreement_id },
      'billing task refused, dropped',
    )
    await closeIntent(ctx, task.id, 'dropped', error.code)
    return
  }
  await closeIntent(ctx, task.id, 'done')
}

/** Whether the refusal of a refund is final. Other refusals, such as too low a balance at the provider, are retried. */
const isFinal = (ctx: Context, { created_at: at }: IntentRow, { code }: Refused): boolean =>
  code === 'not-found' || code === 'not-refundable' || ctx.now().getTime() - at.getTime() > refundWindowMs

/**
 * The idempotency key of a refund. Providers repeat the stored response of a key, so a retry after a refusal uses a new
 * key, and keeps it until the provider responds.
 */
const buildRefundKey = ({ id, failure, updated_at: at }: IntentRow): string =>
  failure === null ? id : `${id}-${at.getTime()}`

const parseSubject = ({ key, kind }: IntentRow): string => key.slice(kind.length + 1)

async function callProvider(ctx: Context, port: BillingPort, task: IntentRow): Promise<void> {
  switch (task.kind as TaskKind) {
    case 'close-checkout':
      await port.cancelCheckout(task.agreement_id)
      return takeRemainingEvents(ctx, port, task)
    case 'cancel-agreement':
      return port.cancelAgreement(task.agreement_id)
    case 'pause-agreement':
      if (await isStillActive(ctx, task)) return
      return port.capabilities.pause
        ? port.pauseAgreement(task.agreement_id)
        : port.cancelAgreement(task.agreement_id)
    case 'refund':
      return port.refund(parseSubject(task), { idempotencyKey: buildRefundKey(task) })
    case 'collect': {
      const isWanted = await isStillOwed(ctx, task)
      if (!isWanted) return
      const { amount, currency, reason } = task.terms as CollectPayload
      // The result of the charge is applied when its event arrives.
      await port.chargeNow(task.agreement_id, { amount, currency, reason, idempotencyKey: task.id })
    }
  }
}

/**
 * Fetches the last events of a closed checkout page. Its webhooks may have been lost, and a later reconciliation may not
 * look at the page, which belongs to no current agreement.
 */
async function takeRemainingEvents(
  ctx: Context,
  port: BillingPort,
  { provider, agreement_id: id }: IntentRow,
): Promise<void> {
  await ingestEvents(ctx, 'billing', provider, await port.listEvents(id, { since: new Date(0) }))
}

/** Whether the subscription is active again: an event that arrived after the pause may have shown a payment. */
async function isStillActive(ctx: Context, task: IntentRow): Promise<boolean> {
  const { status, agreement_id: id } = await readRow(ctx)
  return status === 'active' && id === task.agreement_id
}

async function isStillOwed(ctx: Context, task: IntentRow): Promise<boolean> {
  const row = await ctx.db
    .selectFrom('subscriptions')
    .select(['status', 'agreement_id'])
    .executeTakeFirstOrThrow()
  return row.status === 'past-due' && row.agreement_id === task.agreement_id
}
