/** Opens checkouts at the provider; at most one is open per store. */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuseTemporarily } from '#runtime/errors'
import { addTask } from '../intents.ts'
import { findPayerEmail } from '../notices/owner-notifications.ts'
import { closeOpenCheckouts } from '../open-checkouts.ts'
import { getBilling } from '../provider/connection.ts'
import type { CheckoutKind } from '../provider/port.ts'
import { computeLaterCharge, isQuoteValid, type Quote } from '../quote.ts'
import { lockRow } from '../rows.ts'
import type { SubscriptionRow } from '../transitions.ts'
import { tryTasks } from './tasks.ts'

export type CheckoutRow = Row<'checkouts'>

/** Builds the quote under the lock of the subscription, before the provider is called. Throws if no quote is possible. */
export type BuildQuote = (row: SubscriptionRow, tx: Context) => Quote

const lastsMs = dayMs

/**
 * Opens a checkout for a quote, replacing an open checkout. Returns its id. `decide` runs before the provider creates the
 * page and again after; what it throws is passed on. If the provider throws, nothing has changed.
 */
export async function openCheckout(
  ctx: Context,
  kind: Exclude<CheckoutKind, 'card-update'>,
  decide: BuildQuote,
): Promise<string> {
  const { port, provider } = await getBilling(ctx)
  const id = ctx.newId()
  const begun = await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    const quote = decide(row, tx)
    const payer = await findPayerEmail(tx)
    await insertCheckout(tx, { id, kind, provider, quote, payer, amount: quote.amount })
    return { quote, later: computeLaterCharge(row, quote, tx.now()), payer }
  })
  const { quote, later, payer } = begun
  return finishOpening(
    ctx,
    id,
    provider,
    (row, tx) => {
      decide(row, tx)
      if (!isQuoteValid(row, quote)) throw changedMeanwhile()
    },
    () =>
      port.createCheckout({
        storeId: ctx.store.id,
        checkoutId: id,
        kind,
        planId: quote.planId,
        billingCycle: quote.billingCycle,
        firstAmount: quote.amount,
        amount: later,
        currency: quote.currency,
        ...(quote.begins === 'now' ? {} : { startsAt: quote.periodEnd }),
        payerEmail: payer,
        ...(quote.coupon && quote.isCouponNew ? { coupon: quote.coupon.code } : {}),
        returnUrl: returnUrl(ctx),
        idempotencyKey: id,
      }),
  )
}

/** Opens a card-update page. The amount `owed` is charged to the new card at once. */
export async function openCardUpdate(
  ctx: Context,
  decide: (row: SubscriptionRow) => { agreementId: string; provider: string; owed: string },
): Promise<string> {
  const id = ctx.newId()
  const { agreementId, provider } = await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    const decided = decide(row)
    await insertCheckout(tx, {
      id,
      kind: 'card-update',
      provider: decided.provider,
      quote: null,
      amount: decided.owed,
      planId: row.plan_id,
      billingCycle: row.billing_cycle!,
      currency: row.currency!,
    })
    return decided
  })
  const { port } = await getBilling(ctx, provider)
  return finishOpening(
    ctx,
    id,
    provider,
    (row) => void decide(row),
    () => port.createCardUpdate(agreementId, { checkoutId: id, returnUrl: returnUrl(ctx) }),
  )
}

export const changedMeanwhile = () =>
  refuseTemporarily('conflict', 'The subscription changed meanwhile: read it and try again')

const returnUrl = (ctx: Context): string => `${ctx.settings.publicUrl}/billing/return`

interface NewCheckout {
  id: string
  kind: CheckoutKind
  provider: string
  quote: Quote | null
  /** The payer's email as sent to the provider, which may not return it. */
  payer?: string
  amount: string
  planId?: string
  billingCycle?: string
  currency?: string
}

async function insertCheckout(tx: Context, checkout: NewCheckout): Promise<void> {
  const { quote } = checkout
  const now = tx.now()
  await tx.db
    .insertInto('checkouts')
    .values({
      id: checkout.id,
      kind: checkout.kind,
      status: 'creating',
      provider: checkout.provider,
      plan_id: quote?.planId ?? checkout.planId!,
      billing_cycle: quote?.billingCycle ?? checkout.billingCycle!,
      amount: checkout.amount,
      currency: quote?.currency ?? checkout.currency!,
      coupon_code: quote?.isCouponNew ? (quote.coupon?.code ?? null) : null,
      terms: quote && JSON.stringify({ ...quote, payerEmail: checkout.payer }),
      expires_at: new Date(now.getTime() + lastsMs),
      created_at: now,
      updated_at: now,
    })
    .execute()
}

interface Page {
  providerCheckoutId: string
  url: string
  expiresAt: Date
}

async function finishOpening(
  ctx: Context,
  id: string,
  provider: string,
  check: (row: SubscriptionRow, tx: Context) => void,
  create: () => Promise<Page>,
): Promise<string> {
  let made: Page
  try {
    made = await create()
  } catch (error) {
    // The page may exist at the provider, but its address was never returned, so nobody can pay it.
    await ctx.db.deleteFrom('checkouts').where('id', '=', id).where('status', '=', 'creating').execute()
    throw error
  }
  const refused = await ctx.transaction(async (tx): Promise<unknown> => {
    const row = await lockRow(tx)
    try {
      check(row, tx)
    } catch (error) {
      await tx.db.deleteFrom('checkouts').where('id', '=', id).execute()
      await addTask(tx, { kind: 'close-checkout', provider, agreementId: made.providerCheckoutId })
      return error
    }
    await closeOpenCheckouts(tx)
    const opened = await tx.db
      .updateTable('checkouts')
      .set({
        status: 'open',
        provider_checkout_id: made.providerCheckoutId,
        url: made.url,
        expires_at: made.expiresAt,
        updated_at: tx.now(),
      })
      .where('id', '=', id)
      .where('status', '=', 'creating')
      .returning('id')
      .executeTakeFirst()
    return opened ? null : refuseTemporarily('conflict', 'The checkout took too long to open: try again')
  })
  await tryTasks(ctx)
  if (refused) throw refused
  return id
}
