/** Reconciles with the provider: finishes or drops interrupted calls, fetches missed events and runs open tasks. */

import { ingestEvents } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs, hourMs } from '#runtime/durations'
import { refuseTemporarily } from '#runtime/errors'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { closeIntent, findIntent, type IntentRow, listOpenIntents, requestKinds } from '../intents.ts'
import { getBilling } from '../provider/connection.ts'
import type { BillingEventData, BillingPort } from '../provider/port.ts'
import { isReconciliationDue, lockRow, markReconciled, readRow } from '../rows.ts'
import { isOverdue, refundWindowMs, type SubscriptionRow } from '../transitions.ts'
import { finishCancel } from './cancel.ts'
import { finishCharge } from './charge.ts'
import { applyBillingEvent } from './events.ts'
import { finishSchedule, type ScheduleQuote } from './schedule.ts'
import { updateNextAmount } from './sync.ts'
import { runTasks } from './tasks.ts'

const creatingMs = hourMs
const lookbackMs = 3 * dayMs

/** Runs every reconciliation step for a store. Throws the first failure after all steps were tried. */
export async function reconcile(ctx: Context): Promise<void> {
  const failures: unknown[] = []
  for (const step of [
    finishExpiredRequests,
    syncFromProvider,
    runTasks,
    updateNextAmount,
    deleteAbandonedCheckouts,
  ]) {
    try {
      await step(ctx)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** Finishes earlier requests before a new one. Refuses while an earlier request is still running; throws in an outage. */
export async function finishRequests(ctx: Context): Promise<void> {
  const requests = await listOpenIntents(ctx, requestKinds)
  for (const intent of requests) {
    if (intent.held_until > ctx.now()) {
      throw refuseTemporarily(
        'conflict',
        'Another change of the subscription is under way: try again in a minute',
      )
    }
    await reconcileRequest(ctx, intent)
  }
}

async function finishExpiredRequests(ctx: Context): Promise<void> {
  for (const intent of await listOpenIntents(ctx, requestKinds)) {
    if (intent.held_until <= ctx.now()) await reconcileRequest(ctx, intent)
  }
}

async function reconcileRequest(ctx: Context, intent: IntentRow): Promise<void> {
  const { port } = await getBilling(ctx, intent.provider)
  switch (intent.kind) {
    case 'cancel':
      return reconcileCancel(ctx, port, intent)
    case 'charge':
      return reconcileCharge(ctx, port, intent)
    default:
      return reconcileSchedule(ctx, port, intent)
  }
}

async function reconcileCancel(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const agreement = await nullIfNotFound(() => port.getAgreement(intent.agreement_id))
  if (agreement && agreement.status !== 'cancelled') return dropIntent(ctx, intent)
  await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    await finishCancel(tx, row, (await findIntent(tx, intent.id))!)
  })
}

async function reconcileCharge(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const since = new Date(intent.created_at.getTime() - lookbackMs)
  const payments = await nullIfNotFound(() => port.listPayments(intent.agreement_id, { since }))
  const payment = payments?.find((each) => each.idempotencyKey === intent.id)
  if (!payment || payment.status === 'pending') {
    // Nothing was charged: the intent is dropped, and a charge that appears later is refunded.
    if (!payment) await dropIntent(ctx, intent)
    return
  }
  await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    await finishCharge(tx, row, (await findIntent(tx, intent.id))!, payment)
  })
}

async function reconcileSchedule(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const agreement = await nullIfNotFound(() => port.getAgreement(intent.agreement_id))
  const { nextAmount } = intent.terms as ScheduleQuote
  if (agreement?.amount !== nextAmount) return dropIntent(ctx, intent)
  await ctx.transaction((tx) => finishSchedule(tx, intent.id, agreement.amount))
}

async function dropIntent(ctx: Context, intent: IntentRow): Promise<void> {
  await closeIntent(ctx, intent.id, 'dropped', 'The provider did not make the change')
}

/** Returns null when the provider refuses with `not-found`. */
async function nullIfNotFound<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Refused && error.code === 'not-found') return null
    throw error
  }
}

/** Fetches events whose webhooks were lost, and applies an agreement status that arrived too early to be applied. */
export async function syncFromProvider(ctx: Context): Promise<void> {
  await fetchEvents(ctx)
  await compareAgreement(ctx)
}

/** Like `syncFromProvider`, but does not throw when the provider is unavailable: callers go on with the stored state. */
export async function trySyncFromProvider(ctx: Context): Promise<void> {
  try {
    await syncFromProvider(ctx)
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Throttled)) throw error
    ctx.log.warn({ err: error }, 'billing provider unavailable, using the stored state')
  }
}

/** Syncs if the period is over and the renewal's result is not known, so that the caller decides on current data. */
export async function syncOverdueRenewal(ctx: Context): Promise<void> {
  if (isOverdue(await readRow(ctx), ctx.now())) await trySyncFromProvider(ctx)
}

/** Applies the agreement's current status if it differs: an agreement event that preceded its payment had no effect. */
async function compareAgreement(ctx: Context): Promise<void> {
  const { agreement_id: id, agreement_status: status, provider } = await readRow(ctx)
  if (!id || !provider) return
  const { port } = await getBilling(ctx, provider)
  const occurredAt = ctx.now()
  const agreement = await nullIfNotFound(() => port.getAgreement(id))
  if (!agreement || agreement.status === 'pending' || agreement.status === status) return
  const data = { ...emptyEventData, agreementId: id, agreement }
  await ctx.transaction((tx) => applyBillingEvent(tx, 'agreement', { provider, occurredAt, data }))
}

const emptyEventData: BillingEventData = {
  agreementId: null,
  checkoutId: null,
  paymentId: null,
  outcome: null,
  failureReason: null,
  payment: null,
  agreement: null,
}

/**
 * Fetches events since the last complete run, however long ago. They have the same keys as in webhooks, so none is applied
 * twice. Once a day the fetch also covers replaced and ended agreements, and all payments that can still be refunded:
 * nothing else checks those. Throws the first failure after all were tried.
 */
async function fetchEvents(ctx: Context): Promise<void> {
  const now = ctx.now()
  const row = await readRow(ctx)
  const followedAt = (row.followed_at ?? row.created_at).getTime()
  const since = new Date(followedAt - lookbackMs)
  const isWhole = isReconciliationDue(row, now)
  const paidSince = isWhole ? new Date(followedAt - refundWindowMs) : since
  const agreements = isWhole ? await listAgreements(ctx, row, paidSince) : listCurrentAgreement(row)
  const failures: unknown[] = []
  for (const subjects of [
    agreements.map((each) => ({ ...each, since: paidSince })),
    (await listUnpaidCheckouts(ctx, since)).map((each) => ({ ...each, since })),
  ]) {
    for (const subject of subjects)
      await fetchSubjectEvents(ctx, subject).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
  if (isWhole) await markReconciled(ctx, now)
}

interface Subject {
  provider: string
  id: string
}

async function fetchSubjectEvents(
  ctx: Context,
  { provider, id, since }: Subject & { since: Date },
): Promise<void> {
  const { port } = await getBilling(ctx, provider)
  const received = await nullIfNotFound(() => port.listEvents(id, { since }))
  if (received) await ingestEvents(ctx, 'billing', provider, received)
}

/** The current or last agreement. */
const listCurrentAgreement = ({ agreement_id: id, provider }: SubscriptionRow): Subject[] =>
  id && provider ? [{ provider, id }] : []

/** Includes replaced and cancelled agreements: their charges may be reported late and refunded later. */
async function listAgreements(ctx: Context, row: SubscriptionRow, since: Date): Promise<Subject[]> {
  const paid = ctx.db
    .selectFrom('payments')
    .select(['provider', 'agreement_id as id'])
    .where('agreement_id', 'is not', null)
    .where('created_at', '>', since)
  const ended = ctx.db
    .selectFrom('billing_intents')
    .select(['provider', 'agreement_id as id'])
    .where('kind', 'in', ['cancel', 'cancel-agreement', 'pause-agreement'])
    .where('updated_at', '>', since)
  const former = [...(await paid.execute()), ...(await ended.execute())] as Subject[]
  // Skips providers that this server no longer uses.
  const askable = former.filter((each) => Object.hasOwn(ctx.adapters.billing, each.provider))
  const found = [...listCurrentAgreement(row), ...askable]
  return [...new Map(found.map((each) => [`${each.provider}:${each.id}`, each])).values()]
}

/** Checkouts not known as paid, which may have been paid without our receiving the event. */
async function listUnpaidCheckouts(ctx: Context, since: Date): Promise<Subject[]> {
  const unpaid = await ctx.db
    .selectFrom('checkouts')
    .select(['provider', 'provider_checkout_id as id'])
    .where('provider_checkout_id', 'is not', null)
    .where('status', '<>', 'approved')
    .where('created_at', '>', since)
    .execute()
  return unpaid as Subject[]
}

/** Deletes checkouts whose creation was interrupted. Their address was never returned, so nobody can pay them. */
async function deleteAbandonedCheckouts(ctx: Context): Promise<void> {
  await ctx.db
    .deleteFrom('checkouts')
    .where('status', '=', 'creating')
    .where('created_at', '<', new Date(ctx.now().getTime() - creatingMs))
    .execute()
}
