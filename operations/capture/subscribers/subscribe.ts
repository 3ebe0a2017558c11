/** Stores a capture. A new subscriber gets a prize and a code; a known subscriber is updated. */

import { randomInt } from 'node:crypto'
import { sql } from 'kysely'
import { addCaptured } from '#operations/campaigns/index'
import { attribution } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isDuplicate, refuse } from '#runtime/errors'
import { mailproviderPush, newsletterCoupon, newsletterCouponEmail } from '../handles.ts'
import { isScheduled } from '../popup/publication.ts'
import type { PopupSettings, Prize } from '../popup/schema.ts'
import { generateCode, type PromisedCoupon, toPromisedCoupon } from './codes.ts'
import { findPrize, sumWeights } from './draw.ts'
import { comesBack, fillGaps, findKnown, type KnownSubscriber } from './known-subscriber.ts'
import type { Person } from './person.ts'

export interface Subscription {
  outcome: 'new' | 'again' | 'known'
  subscriberId: string
  prize: Pick<Prize, 'id' | 'label'> | null
  coupon: PromisedCoupon | null
  code: string | null
  /** True if the code is unique and has to be created on the platform. */
  isPending: boolean
}

export interface Drawn {
  prize: Pick<Prize, 'id' | 'label' | 'stock'> | null
  coupon: PromisedCoupon | null
  code: string | null
}

class ConflictError extends Error {}
const maxTries = 10

/**
 * Runs `work` in one transaction. Retries it if a concurrent transaction took the email, the phone, the code or the last
 * prize.
 */
export async function retryOnConflict<T>(ctx: Context, work: (tx: Context) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await ctx.transaction(work)
    } catch (error) {
      if (!(error instanceof ConflictError || isDuplicate(error)) || tries === maxTries) throw error
    }
  }
}

/**
 * Stores a capture and queues everything that follows from it. Must be called within `retryOnConflict`. `draws` is
 * false if a subscriber wins neither prize nor coupon. Refuses a person who had unsubscribed and does not consent now.
 */
export async function subscribe(
  ctx: Context,
  settings: PopupSettings,
  person: Person,
  { draws }: { draws: boolean },
): Promise<Subscription> {
  const known = await findKnown(ctx, person)
  if (known) return subscribeAgain(ctx, settings, known, person)
  // A shopper may submit a popup after its schedule has ended. They are subscribed, but win nothing.
  const drawn = draws && isScheduled(settings, ctx.now()) ? await draw(ctx, settings) : noDraw
  const { prize, coupon, code } = drawn
  const subscriberId = ctx.newId()
  const isPending = coupon?.mode === 'unique'
  await insertSubscriber(ctx, settings, person, drawn, subscriberId)
  await attribution.recordTouches(ctx, [
    {
      sourceType: 'newsletter',
      sourceId: subscriberId,
      sourceName: 'Popup',
      channel: 'storefront',
      messageId: null,
      phone: person.phone,
      email: person.email,
      couponCode: isPending ? code : null,
      touchedAt: ctx.now(),
    },
  ])
  if (isPending) {
    // The delay lets the immediate attempt (three seconds) end first.
    await ctx.queue(newsletterCoupon, { subscriberId }, { afterSeconds: 5 })
  } else if (code !== null && emailsCode(settings, person)) {
    await ctx.queue(newsletterCouponEmail, { subscriberId })
  }
  if (isPushed(settings, person)) await ctx.queue(mailproviderPush, { subscriberId })
  // The contact is added last, because that locks the contact list.
  if (settings.contactListId !== null && person.phone !== null && person.consent) {
    const { phone, name, email } = person
    await addCaptured(ctx, settings.contactListId, { phone, name, email, source: 'newsletter' })
  }
  return { outcome: 'new', subscriberId, prize, coupon, code, isPending }
}

const noDraw: Drawn = { prize: null, coupon: null, code: null }

const emailsCode = ({ couponDelivery }: PopupSettings, { email }: Person): boolean =>
  couponDelivery !== 'screen' && email !== null

const isPushed = ({ isMailproviderEnabled }: PopupSettings, { email, consent }: Person): boolean =>
  isMailproviderEnabled && email !== null && consent

/**
 * Updates a known subscriber. Fills in the missing fields of a subscribed person. Resubscribes an unsubscribed person with
 * their consent, without another code.
 */
async function subscribeAgain(
  ctx: Context,
  settings: PopupSettings,
  known: KnownSubscriber,
  person: Person,
): Promise<Subscription> {
  const isBack = comesBack(known, person)
  if (isBack && !person.consent) {
    throw refuse('bad_request', 'consent: must be ticked to subscribe again')
  }
  const push = isPushed(settings, person)
  const isChanged = await fillGaps(ctx, known, person, push)
  if (isChanged && push) await ctx.queue(mailproviderPush, { subscriberId: known.id })
  return {
    outcome: isBack ? 'again' : 'known',
    subscriberId: known.id,
    prize: null,
    coupon: null,
    code: null,
    isPending: false,
  }
}

/**
 * Draws a prize with stock left and returns it with its coupon. If the roulette is off, returns the popup's coupon.
 * Does not take the stock; `insertSubscriber` does.
 */
export async function draw(ctx: Context, { roulette, coupon }: PopupSettings): Promise<Drawn> {
  if (!roulette.enabled) {
    return coupon.enabled
      ? { prize: null, coupon: toPromisedCoupon(ctx, withoutSwitch(coupon)), code: generateCode(coupon) }
      : noDraw
  }
  const inStock = await filterInStock(ctx, roulette.prizes)
  const prize = inStock.length === 0 ? null : findPrize(inStock, randomInt(sumWeights(inStock)))
  return {
    prize,
    coupon: prize?.coupon ? toPromisedCoupon(ctx, prize.coupon) : null,
    code: prize?.coupon ? generateCode(prize.coupon) : null,
  }
}

const withoutSwitch = ({ enabled: _enabled, ...coupon }: PopupSettings['coupon']) => coupon

async function filterInStock(ctx: Context, prizes: readonly Prize[]): Promise<Prize[]> {
  if (prizes.every((prize) => prize.stock === null)) return [...prizes]
  const rows = await ctx.db.selectFrom('newsletter_prizes').select(['id', 'taken']).execute()
  const taken = new Map(rows.map((row) => [row.id, row.taken]))
  return prizes.filter(({ id, stock }) => stock === null || (taken.get(id) ?? 0) < stock)
}

/** Inserts the subscriber. The same statement takes the stock of a limited prize. */
async function insertSubscriber(
  ctx: Context,
  settings: PopupSettings,
  person: Person,
  { prize, coupon, code }: Drawn,
  id: string,
): Promise<void> {
  const now = ctx.now()
  const isUnique = coupon?.mode === 'unique'
  const row = {
    id,
    email: person.email,
    phone: person.phone,
    phone_key: person.phoneKey,
    name: person.name,
    source: person.source,
    consent_email: person.consent && person.email !== null,
    consent_phone: person.consent && person.phone !== null,
    consent_text: person.consent ? person.consentText : null,
    consent_at: person.consent ? now : null,
    prize_id: prize?.id ?? null,
    prize_label: prize?.label ?? null,
    coupon_code: code,
    coupon_status: code === null ? null : isUnique ? 'pending' : 'issued',
    coupon: coupon && JSON.stringify(coupon),
    coupon_email: code !== null && (isUnique || emailsCode(settings, person)) ? 'due' : null,
    page_url: person.pageUrl,
    device: person.device,
    push_due: isPushed(settings, person),
    created_at: now,
    updated_at: now,
  }
  const insert = (db: Context['db']) =>
    db
      .insertInto('newsletter_subscribers')
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .returning('id')
  if (prize?.stock == null) {
    if (!(await insert(ctx.db).executeTakeFirst())) throw new ConflictError()
    return
  }
  const stored = await ctx.db
    .with('prize', (db) =>
      db
        .updateTable('newsletter_prizes')
        .set((eb) => ({ taken: eb('taken', '+', 1) }))
        .where('id', '=', prize.id)
        .where('taken', '<', prize.stock!)
        .returning('id'),
    )
    .with('subscriber', (db) => insert(db as unknown as Context['db']))
    .selectNoFrom((eb) => [
      sql<boolean>`exists (${eb.selectFrom('prize').select('id')})`.as('took'),
      sql<boolean>`exists (${eb.selectFrom('subscriber').select('id')})`.as('stored'),
    ])
    .executeTakeFirstOrThrow()
  if (!stored.took || !stored.stored) throw new ConflictError()
}
