/** What became of what was left half-way: asked of the provider, and finished or dropped, each once. */

import { takeEvents } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs, hourMs } from '#runtime/durations'
import { refuseForNow } from '#runtime/errors'
import { Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { askedKinds, closeIntent, findIntent, type IntentRow, openIntents } from '../intents.ts'
import { goesBackForMs, isOverdue, type SubscriptionRow } from '../moves.ts'
import { billing } from '../provider/connection.ts'
import type { BillingEventData, BillingPort } from '../provider/port.ts'
import { followed, isFollowedLongAgo, lockRow, readRow } from '../rows.ts'
import { finishCancel } from './cancel.ts'
import { finishCharge } from './charge.ts'
import { applyBillingEvent } from './events.ts'
import { finishSchedule, type ScheduleTerms } from './schedule.ts'
import { updateAmount } from './sync.ts'
import { runTasks } from './tasks.ts'

const creatingMs = hourMs
const looksBackMs = 3 * dayMs

/** Everything of a store that its provider may know better. Throws the first failure once all was tried. */
export async function reconcile(ctx: Context): Promise<void> {
  const failures: unknown[] = []
  for (const step of [settleLeft, followProvider, runTasks, updateAmount, forgetUnborn]) {
    try {
      await step(ctx)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}

/** What the merchant asked for before must be settled first. Refuses while it is under way; throws an outage. */
export async function settleAsked(ctx: Context): Promise<void> {
  const asked = await openIntents(ctx, askedKinds)
  for (const intent of asked) {
    if (intent.held_until > ctx.now()) {
      throw refuseForNow('conflict', 'Another change of the subscription is under way: try again in a minute')
    }
    await settle(ctx, intent)
  }
}

async function settleLeft(ctx: Context): Promise<void> {
  for (const intent of await openIntents(ctx, askedKinds)) {
    if (intent.held_until <= ctx.now()) await settle(ctx, intent)
  }
}

async function settle(ctx: Context, intent: IntentRow): Promise<void> {
  const { port } = await billing(ctx, intent.provider)
  switch (intent.kind) {
    case 'cancel':
      return settleCancel(ctx, port, intent)
    case 'charge':
      return settleCharge(ctx, port, intent)
    default:
      return settleSchedule(ctx, port, intent)
  }
}

async function settleCancel(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const agreement = await known(() => port.getAgreement(intent.agreement_id))
  if (agreement && agreement.status !== 'cancelled') return drop(ctx, intent)
  await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    await finishCancel(tx, row, (await findIntent(tx, intent.id))!)
  })
}

async function settleCharge(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const since = new Date(intent.created_at.getTime() - looksBackMs)
  const payments = await known(() => port.listPayments(intent.agreement_id, { since }))
  const payment = payments?.find((each) => each.idempotencyKey === intent.id)
  if (!payment || payment.status === 'pending') {
    // Nothing was charged; should it come all the same, it goes back.
    if (!payment) await drop(ctx, intent)
    return
  }
  await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    await finishCharge(tx, row, (await findIntent(tx, intent.id))!, payment)
  })
}

async function settleSchedule(ctx: Context, port: BillingPort, intent: IntentRow): Promise<void> {
  const agreement = await known(() => port.getAgreement(intent.agreement_id))
  const { nextAmount } = intent.terms as ScheduleTerms
  if (agreement?.amount !== nextAmount) return drop(ctx, intent)
  await ctx.transaction((tx) => finishSchedule(tx, intent.id, agreement.amount))
}

async function drop(ctx: Context, intent: IntentRow): Promise<void> {
  await closeIntent(ctx, intent.id, 'dropped', 'The provider had not done it')
}

/** Null for what the provider does not know. */
async function known<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof Refused && error.code === 'not-found') return null
    throw error
  }
}

/** What the provider knows and we do not: hooks that were lost, and what came too early to be applied. */
export async function followProvider(ctx: Context): Promise<void> {
  await fetchEvents(ctx)
  await compareAgreement(ctx)
}

/** The same for somebody who waits, and who has to go by what is known where the provider does not answer. */
export async function tryFollowing(ctx: Context): Promise<void> {
  try {
    await followProvider(ctx)
  } catch (error) {
    if (!(error instanceof Unavailable || error instanceof Throttled)) throw error
    ctx.log.warn({ err: error }, 'the billing provider could not be asked')
  }
}

/** Before what the merchant asks for is decided on a period that is over, as far as anybody has told. */
export async function hearOfRenewal(ctx: Context): Promise<void> {
  if (isOverdue(await readRow(ctx), ctx.now())) await tryFollowing(ctx)
}

/** News of an agreement that came before its payment had nothing to change then: the provider is asked how it stands. */
async function compareAgreement(ctx: Context): Promise<void> {
  const { agreement_id: id, agreement_status: status, provider } = await readRow(ctx)
  if (!id || !provider) return
  const { port } = await billing(ctx, provider)
  const occurredAt = ctx.now()
  const agreement = await known(() => port.getAgreement(id))
  if (!agreement || agreement.status === 'pending' || agreement.status === status) return
  const data = { ...nothing, agreementId: id, agreement }
  await ctx.transaction((tx) => applyBillingEvent(tx, 'agreement', { provider, occurredAt, data }))
}

const nothing: BillingEventData = {
  agreementId: null,
  checkoutId: null,
  paymentId: null,
  outcome: null,
  failureReason: null,
  payment: null,
  agreement: null,
}

/**
 * The same events under the same keys, from where this was last done: however long ago. Once a day of every agreement that
 * there was, and of all that can still go back: nobody else asks of those that were replaced or ended, nor of payments
 * that are older than what they are followed for. Throws the first failure once all were asked.
 */
async function fetchEvents(ctx: Context): Promise<void> {
  const now = ctx.now()
  const row = await readRow(ctx)
  const followedAt = (row.followed_at ?? row.created_at).getTime()
  const since = new Date(followedAt - looksBackMs)
  const isWhole = isFollowedLongAgo(row, now)
  const paidSince = isWhole ? new Date(followedAt - goesBackForMs) : since
  const agreements = isWhole ? await agreementsOf(ctx, row, paidSince) : holding(row)
  const failures: unknown[] = []
  for (const subjects of [
    agreements.map((each) => ({ ...each, since: paidSince })),
    (await unpaidPages(ctx, since)).map((each) => ({ ...each, since })),
  ]) {
    for (const subject of subjects) await hear(ctx, subject).catch((error) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
  if (isWhole) await followed(ctx, now)
}

interface Subject {
  provider: string
  id: string
}

async function hear(ctx: Context, { provider, id, since }: Subject & { since: Date }): Promise<void> {
  const { port } = await billing(ctx, provider)
  const told = await known(() => port.eventsOf(id, { since }))
  if (told) await takeEvents(ctx, 'billing', provider, told)
}

/** The agreement that holds, or did to the end. */
const holding = ({ agreement_id: id, provider }: SubscriptionRow): Subject[] =>
  id && provider ? [{ provider, id }] : []

/** Also those that were replaced or given up: what they had charged may be told late, and go back later. */
async function agreementsOf(ctx: Context, row: SubscriptionRow, since: Date): Promise<Subject[]> {
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
  // A provider that this server has left can be asked no more.
  const askable = former.filter((each) => Object.hasOwn(ctx.adapters.billing, each.provider))
  const found = [...holding(row), ...askable]
  return [...new Map(found.map((each) => [`${each.provider}:${each.id}`, each])).values()]
}

/** Checkouts that may have been paid. */
async function unpaidPages(ctx: Context, since: Date): Promise<Subject[]> {
  const unpaid = await ctx.db
    .selectFrom('checkouts')
    .select(['provider', 'provider_checkout_id as id'])
    .where('provider_checkout_id', 'is not', null)
    .where('status', '<>', 'approved')
    .where('created_at', '>', since)
    .execute()
  return unpaid as Subject[]
}

/** Checkouts whose making was interrupted: nobody has their address. */
async function forgetUnborn(ctx: Context): Promise<void> {
  await ctx.db
    .deleteFrom('checkouts')
    .where('status', '=', 'creating')
    .where('created_at', '<', new Date(ctx.now().getTime() - creatingMs))
    .execute()
}
