/** Who may be asked about what (rule 3): looked at when a request is planned, and again just before it leaves. */

import { sql } from 'kysely'
import { optOuts, sending, templates } from '#operations/messaging/door'
import { isAmong } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { emailKey, emailKeyOf } from '#runtime/values/email'
import { isProven } from '../proven.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import type { SkipReason } from './codes.ts'
import { unsubscribedAmong } from './unsubscribes.ts'

export type Channel = 'email' | 'messaging'

export interface Candidate {
  /** Of the dispatch; of one that is being planned, anything else. */
  id: string
  orderId: string
  orderItemId: string
  productId: string
  channel: Channel
  email: string | null
  phone: string | null
  phoneKey: string | null
}

const askedAgainAfterMs = 90 * dayMs

/** What can be said of people and orders at once, for some candidates. */
export interface Facts {
  /** Match forms of phones. */
  optedOut: ReadonlySet<string>
  /** In lower case. */
  unsubscribed: ReadonlySet<string>
  /** By `order` and `order item`. */
  endedItems: ReadonlyMap<string, 'order-cancelled' | 'refunded'>
  /** Product and person. */
  reviewed: ReadonlySet<string>
  asked: ReadonlySet<string>
  goneProducts: ReadonlySet<string>
  /** An approved utility template may go to who opted out. */
  reachesOptedOut: boolean
}

export async function factsOf(
  ctx: Context,
  candidates: readonly Candidate[],
  settings: ReviewSettings,
  goneProducts: ReadonlySet<string>,
): Promise<Facts> {
  const emails = distinct(candidates.map(({ email }) => email && emailKey(email)))
  const phones = distinct(candidates.map(({ phoneKey }) => phoneKey))
  const people = { emails, phones, productIds: distinct(candidates.map(({ productId }) => productId)) }
  return {
    optedOut: await optOuts.among(ctx, phones),
    unsubscribed: await unsubscribedAmong(ctx, emails),
    endedItems: await endedAmong(ctx, distinct(candidates.map(({ orderId }) => orderId))),
    reviewed: await reviewedAmong(ctx, people),
    asked: await askedAmong(
      ctx,
      people,
      candidates.map(({ id }) => id),
    ),
    goneProducts,
    reachesOptedOut: await reachesOptedOut(ctx, settings),
  }
}

const distinct = (values: readonly (string | null | undefined)[]): string[] => [
  ...new Set(values.flatMap((value) => value ?? [])),
]

/** Null where nothing speaks against it. */
export function objectionTo(candidate: Candidate, facts: Facts): SkipReason | null {
  const { orderId, orderItemId, productId } = candidate
  const ended = facts.endedItems.get(itemKey(orderId, orderItemId))
  if (ended) return ended
  if (facts.goneProducts.has(productId)) return 'product-gone'
  const keys = keysOf(productId, candidate.email, candidate.phoneKey)
  if (keys.some((key) => facts.reviewed.has(key))) return 'already-reviewed'
  if (keys.some((key) => facts.asked.has(key))) return 'recent-request'
  return contactObjection(candidate, facts)
}

/**
 * The same for candidates that leave together, in their order: of two about one product to one person the second one
 * meets the first.
 */
export function objectionsTo(candidates: readonly Candidate[], facts: Facts): Map<Candidate, SkipReason> {
  const found = new Map<Candidate, SkipReason>()
  const askedNow = new Set<string>()
  for (const candidate of candidates) {
    const keys = keysOf(candidate.productId, candidate.email, candidate.phoneKey)
    const reason =
      objectionTo(candidate, facts) ?? (keys.some((key) => askedNow.has(key)) ? 'recent-request' : null)
    if (reason) found.set(candidate, reason)
    else for (const key of keys) askedNow.add(key)
  }
  return found
}

/** What speaks against the way it would take. */
export function contactObjection(
  { channel, email, phone, phoneKey }: Pick<Candidate, 'channel' | 'email' | 'phone' | 'phoneKey'>,
  facts: Pick<Facts, 'optedOut' | 'unsubscribed' | 'reachesOptedOut'>,
): SkipReason | null {
  if (channel === 'email') {
    if (!email) return 'no-contact'
    return facts.unsubscribed.has(emailKey(email)) ? 'opted-out' : null
  }
  if (!phone || !phoneKey) return 'no-contact'
  return facts.optedOut.has(phoneKey) && !facts.reachesOptedOut ? 'opted-out' : null
}

export const itemKey = (orderId: string, itemId: string): string => `${orderId}\n${itemId}`

const keysOf = (productId: string, email: string | null, phoneKey: string | null): string[] => [
  ...(email ? [`${productId}\n${emailKey(email)}`] : []),
  ...(phoneKey ? [`${productId}\n${phoneKey}`] : []),
]

/** Items of orders about which nobody is asked any more. */
export async function endedAmong(
  ctx: Context,
  orderIds: readonly string[],
): Promise<ReadonlyMap<string, 'order-cancelled' | 'refunded'>> {
  const rows = await ctx.db
    .selectFrom('orders as o')
    .innerJoin('order_items as i', 'i.order_id', 'o.id')
    .select([
      'o.id as order_id',
      'i.id',
      sql<boolean>`o.status = 'cancelled' or o.payment_status = 'voided'`.as('is_cancelled'),
    ])
    .where(isAmong('o.id', orderIds))
    .where(
      sql<boolean>`(o.status = 'cancelled' or o.payment_status in ('voided', 'refunded')
        or i.refunded_quantity >= i.quantity or (i.total > 0 and i.refunded_total >= i.total))`,
    )
    .execute()
  return new Map(
    rows.map((row) => [itemKey(row.order_id, row.id), row.is_cancelled ? 'order-cancelled' : 'refunded']),
  )
}

interface People {
  emails: string[]
  phones: string[]
  productIds: string[]
}

/** Products with the people who reviewed them. */
async function reviewedAmong(ctx: Context, { emails, phones, productIds }: People): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom('product_reviews')
    .select(['product_id', 'customer_email as email', 'phone_key'])
    .where(isAmong('product_id', productIds))
    .where(isProven('product_reviews'))
    .where((eb) =>
      eb.or([
        sql<boolean>`${emailKeyOf('customer_email')} = any(${emails}::text[])`,
        sql<boolean>`phone_key = any(${phones}::text[])`,
      ]),
    )
    .execute()
  return new Set(rows.flatMap((row) => keysOf(row.product_id, row.email, row.phone_key)))
}

/** Products with the people who were asked about them lately, or are being asked, but for these dispatches. */
async function askedAmong(
  ctx: Context,
  { emails, phones, productIds }: People,
  butFor: readonly string[],
): Promise<Set<string>> {
  const since = new Date(ctx.clock.ms() - askedAgainAfterMs)
  const rows = await ctx.db
    .selectFrom('review_dispatches')
    .select(['id', 'product_id', 'customer_email as email', 'phone_key'])
    .where(isAmong('product_id', productIds))
    .where((eb) =>
      eb.or([
        sql<boolean>`${emailKeyOf('customer_email')} = any(${emails}::text[])`,
        sql<boolean>`phone_key = any(${phones}::text[])`,
      ]),
    )
    .where((eb) => eb.or([eb('status', '=', 'sending'), eb('last_sent_at', '>', since)]))
    .execute()
  const left = new Set(butFor)
  return new Set(
    rows
      .filter((row) => !left.has(row.id))
      .flatMap((row) => keysOf(row.product_id, row.email, row.phone_key)),
  )
}

async function reachesOptedOut(ctx: Context, { message }: ReviewSettings): Promise<boolean> {
  const connection = await sending.selected(ctx)
  if (connection?.type !== 'official' || message.officialapiTemplateId === null) return false
  const template = await templates.get(ctx, message.officialapiTemplateId)
  return template?.status === 'approved' && template.category === 'utility'
}
