/** Tasks at the provider that follow from something else: tried until they are done, each safe to repeat. */

import { takeEvents } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Refused } from '#runtime/ports/errors'
import { closeIntent, type IntentRow, noteRefusal, openIntents, type TaskKind } from '../intents.ts'
import { goesBackForMs } from '../moves.ts'
import { billing } from '../provider/connection.ts'
import type { BillingPort } from '../provider/port.ts'
import { readRow } from '../rows.ts'

const kinds: readonly TaskKind[] = [
  'close-checkout',
  'cancel-agreement',
  'pause-agreement',
  'refund',
  'collect',
]

/** What a task carries beside its agreement. */
export interface CollectTerms {
  amount: string
  currency: string
  reason: string
  /** The charge that is owed was due then. */
  dueAt: string
}

/** Does every open task. Throws the first failure once all were tried: they are tried again then. */
export async function runTasks(ctx: Context): Promise<void> {
  let failure: unknown = null
  for (const task of await openIntents(ctx, kinds)) {
    try {
      await run(ctx, task)
    } catch (error) {
      failure ??= error
    }
  }
  if (failure) throw failure
}

/** The same for somebody who waits: what fails is left to `billing-reconcile`, which is queued. */
export async function tryTasks(ctx: Context): Promise<void> {
  try {
    await runTasks(ctx)
  } catch (error) {
    ctx.log.warn({ err: error }, 'the billing provider is asked again in the background')
  }
}

async function run(ctx: Context, task: IntentRow): Promise<void> {
  const { port } = await billing(ctx, task.provider)
  try {
    await ask(ctx, port, task)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (task.kind === 'refund' && !isFinal(ctx, task, error)) {
      ctx.log.error({ err: error, paymentId: subjectOf(task) }, 'a refund was refused: it is tried again')
      return noteRefusal(ctx, task.id, error.code)
    }
    // It will not do it, now or later: gone already, or never there.
    ctx.log.warn(
      { err: error, kind: task.kind, agreementId: task.agreement_id },
      'a billing task was refused',
    )
    await closeIntent(ctx, task.id, 'dropped', error.code)
    return
  }
  await closeIntent(ctx, task.id, 'done')
}

/** Money is owed whatever stands in the way, such as an account without enough in it: refused today is not for ever. */
const isFinal = (ctx: Context, { created_at: at }: IntentRow, { code }: Refused): boolean =>
  code === 'not-found' || code === 'not-refundable' || ctx.now().getTime() - at.getTime() > goesBackForMs

/** Providers answer the same key with the same refusal: what is asked anew has another, as long as it stays unanswered. */
const refundKey = ({ id, failure, updated_at: at }: IntentRow): string =>
  failure === null ? id : `${id}-${at.getTime()}`

const subjectOf = ({ key, kind }: IntentRow): string => key.slice(kind.length + 1)

async function ask(ctx: Context, port: BillingPort, task: IntentRow): Promise<void> {
  switch (task.kind as TaskKind) {
    case 'close-checkout':
      await port.cancelCheckout(task.agreement_id)
      return hearOut(ctx, port, task)
    case 'cancel-agreement':
      return port.cancelAgreement(task.agreement_id)
    case 'pause-agreement':
      if (await goesOn(ctx, task)) return
      return port.capabilities.pause
        ? port.pauseAgreement(task.agreement_id)
        : port.cancelAgreement(task.agreement_id)
    case 'refund':
      return port.refund(subjectOf(task), { idempotencyKey: refundKey(task) })
    case 'collect': {
      const isWanted = await isStillOwed(ctx, task)
      if (!isWanted) return
      const { amount, currency, reason } = task.terms as CollectTerms
      // What comes of it is told by its event.
      await port.chargeNow(task.agreement_id, { amount, currency, reason, idempotencyKey: task.id })
    }
  }
}

/** Nothing new comes of a closed page. What had come may have been told to nobody, and no agreement leads to it. */
async function hearOut(
  ctx: Context,
  port: BillingPort,
  { provider, agreement_id: id }: IntentRow,
): Promise<void> {
  await takeEvents(ctx, 'billing', provider, await port.eventsOf(id, { since: new Date(0) }))
}

/** What it was to be paused for was paid after all, and told later. */
async function goesOn(ctx: Context, task: IntentRow): Promise<boolean> {
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
