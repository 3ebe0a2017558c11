/** Checkouts: opened at the provider for the merchant to pay, at most one open a store. */

import type { Row } from '#db/tables'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { refuseForNow } from '#runtime/errors'
import { addTask } from '../intents.ts'
import type { SubscriptionRow } from '../moves.ts'
import { payerEmail } from '../notices/notices.ts'
import { closeOpen } from '../open-checkouts.ts'
import { billing } from '../provider/connection.ts'
import type { CheckoutKind } from '../provider/port.ts'
import { lockRow } from '../rows.ts'
import { laterCharge, stillFits, type Terms } from '../terms.ts'
import { tryTasks } from './tasks.ts'

export type CheckoutRow = Row<'checkouts'>

/** Decided under the lock, before the provider is asked: throws the refusal. */
export type Decide = (row: SubscriptionRow, tx: Context) => Terms

const lastsMs = dayMs

/**
 * Opens a checkout for terms, in the place of an open one. Answers its id. Refuses what `decide` refuses, also when
 * that comes true while the provider makes the page. Throws what the provider throws; nothing has changed then.
 */
export async function openCheckout(
  ctx: Context,
  kind: Exclude<CheckoutKind, 'card-update'>,
  decide: Decide,
): Promise<string> {
  const { port, provider } = await billing(ctx)
  const id = ctx.newId()
  const begun = await ctx.transaction(async (tx) => {
    const row = await lockRow(tx)
    const terms = decide(row, tx)
    const payer = await payerEmail(tx)
    await insertCheckout(tx, { id, kind, provider, terms, payer, amount: terms.amount })
    return { terms, later: laterCharge(row, terms, tx.now()), payer }
  })
  const { terms, later, payer } = begun
  return finishOpening(
    ctx,
    id,
    provider,
    (row, tx) => {
      decide(row, tx)
      if (!stillFits(row, terms)) throw changedMeanwhile()
    },
    () =>
      port.createCheckout({
        storeId: ctx.store.id,
        checkoutId: id,
        kind,
        planId: terms.planId,
        billingCycle: terms.billingCycle,
        firstAmount: terms.amount,
        amount: later,
        currency: terms.currency,
        ...(terms.begins === 'now' ? {} : { startsAt: terms.periodEnd }),
        payerEmail: payer,
        ...(terms.coupon && terms.isCouponNew ? { coupon: terms.coupon.code } : {}),
        returnUrl: returnUrl(ctx),
        idempotencyKey: id,
      }),
  )
}

/** Opens the page where the card is changed. `owed`: what is charged with it at once. */
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
      terms: null,
      amount: decided.owed,
      planId: row.plan_id,
      billingCycle: row.billing_cycle!,
      currency: row.currency!,
    })
    return decided
  })
  const { port } = await billing(ctx, provider)
  return finishOpening(
    ctx,
    id,
    provider,
    (row) => void decide(row),
    () => port.createCardUpdate(agreementId, { checkoutId: id, returnUrl: returnUrl(ctx) }),
  )
}

export const changedMeanwhile = () =>
  refuseForNow('conflict', 'The subscription changed meanwhile: read it and try again')

const returnUrl = (ctx: Context): string => `${ctx.settings.publicUrl}/billing/return`

interface NewCheckout {
  id: string
  kind: CheckoutKind
  provider: string
  terms: Terms | null
  /** Whom the provider was told, which may not tell it again. */
  payer?: string
  amount: string
  planId?: string
  billingCycle?: string
  currency?: string
}

async function insertCheckout(tx: Context, checkout: NewCheckout): Promise<void> {
  const { terms } = checkout
  const now = tx.now()
  await tx.db
    .insertInto('checkouts')
    .values({
      id: checkout.id,
      kind: checkout.kind,
      status: 'creating',
      provider: checkout.provider,
      plan_id: terms?.planId ?? checkout.planId!,
      billing_cycle: terms?.billingCycle ?? checkout.billingCycle!,
      amount: checkout.amount,
      currency: terms?.currency ?? checkout.currency!,
      coupon_code: terms?.isCouponNew ? (terms.coupon?.code ?? null) : null,
      terms: terms && JSON.stringify({ ...terms, payerEmail: checkout.payer }),
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
    // Nobody has the address of a page that may be there all the same.
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
    await closeOpen(tx)
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
    return opened ? null : refuseForNow('conflict', 'The checkout took too long to open: try again')
  })
  await tryTasks(ctx)
  if (refused) throw refused
  return id
}
