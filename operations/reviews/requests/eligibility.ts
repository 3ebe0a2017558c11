/** Checks whether a review request may be sent (rule 3): when it is planned, and again just before it is sent. */

import { sql } from 'kysely'
import { optOuts, sending, templates } from '#operations/messaging/index'
import { isAmong } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { dayMs } from '#runtime/durations'
import { emailKey, emailKeySql } from '#runtime/values/email'
import { hasProvenAuthor } from '../authorship.ts'
import type { ReviewSettings } from '../settings/schema.ts'
import type { SkipReason } from './skip-reasons.ts'
import { findUnsubscribed } from './unsubscribes.ts'

export type Channel = 'email' | 'messaging'

export interface Candidate {
  /** The id of the dispatch. A request that is being planned has none yet, and any other value is given. */
  id: string
  orderId: string
  orderItemId: string
  productId: string
  channel: Channel
  email: string | null
  phone: string | null
  phoneKey: string | null
}

const requestIntervalMs = 90 * dayMs

/** Data about people and orders, loaded in bulk for a set of candidates. */
export interface EligibilityData {
  /** Phones in the form of `phoneKey`. */
  optedOut: ReadonlySet<string>
  /** Lower-case emails. */
  unsubscribed: ReadonlySet<string>
  /** Keyed by `itemKey`. */
  endedItems: ReadonlyMap<string, 'order-cancelled' | 'refunded'>
  /** Keys of products and people, as `buildReviewerKeys` builds them. Likewise `requested`. */
  reviewed: ReadonlySet<string>
  requested: ReadonlySet<string>
  deletedProducts: ReadonlySet<string>
  /** True if an approved utility template is sent, which is allowed even to opted-out people. */
  reachesOptedOut: boolean
}

export async function loadEligibilityData(
  ctx: Context,
  candidates: readonly Candidate[],
  settings: ReviewSettings,
  deletedProducts: ReadonlySet<string>,
): Promise<EligibilityData> {
  const emails = distinct(candidates.map(({ email }) => email && emailKey(email)))
  const phones = distinct(candidates.map(({ phoneKey }) => phoneKey))
  const people = { emails, phones, productIds: distinct(candidates.map(({ productId }) => productId)) }
  return {
    optedOut: await optOuts.findOptedOut(ctx, phones),
    unsubscribed: await findUnsubscribed(ctx, emails),
    endedItems: await findEndedItems(ctx, distinct(candidates.map(({ orderId }) => orderId))),
    reviewed: await findReviewed(ctx, people),
    requested: await findRequested(
      ctx,
      people,
      candidates.map(({ id }) => id),
    ),
    deletedProducts,
    reachesOptedOut: await reachesOptedOut(ctx, settings),
  }
}

const distinct = (values: readonly (string | null | undefined)[]): string[] => [
  ...new Set(values.flatMap((value) => value ?? [])),
]

/** Finds why a candidate is not eligible; null if it is. */
export function findSkipReason(candidate: Candidate, eligibility: EligibilityData): SkipReason | null {
  const { orderId, orderItemId, productId } = candidate
  const ended = eligibility.endedItems.get(itemKey(orderId, orderItemId))
  if (ended) return ended
  if (eligibility.deletedProducts.has(productId)) return 'product-gone'
  const keys = buildReviewerKeys(productId, candidate.email, candidate.phoneKey)
  if (keys.some((key) => eligibility.reviewed.has(key))) return 'already-reviewed'
  if (keys.some((key) => eligibility.requested.has(key))) return 'recent-request'
  return findContactSkipReason(candidate, eligibility)
}

/**
 * Finds the skip reasons of candidates that are sent together. A second request about the same product to the same person
 * is skipped as `recent-request`.
 */
export function findSkipReasons(
  candidates: readonly Candidate[],
  eligibility: EligibilityData,
): Map<Candidate, SkipReason> {
  const found = new Map<Candidate, SkipReason>()
  const requestedNow = new Set<string>()
  for (const candidate of candidates) {
    const keys = buildReviewerKeys(candidate.productId, candidate.email, candidate.phoneKey)
    const reason =
      findSkipReason(candidate, eligibility) ??
      (keys.some((key) => requestedNow.has(key)) ? 'recent-request' : null)
    if (reason) found.set(candidate, reason)
    else for (const key of keys) requestedNow.add(key)
  }
  return found
}

/** Finds why the contact cannot be reached through the channel; null if they can. */
export function findContactSkipReason(
  { channel, email, phone, phoneKey }: Pick<Candidate, 'channel' | 'email' | 'phone' | 'phoneKey'>,
  eligibility: Pick<EligibilityData, 'optedOut' | 'unsubscribed' | 'reachesOptedOut'>,
): SkipReason | null {
  if (channel === 'email') {
    if (!email) return 'no-contact'
    return eligibility.unsubscribed.has(emailKey(email)) ? 'opted-out' : null
  }
  if (!phone || !phoneKey) return 'no-contact'
  return eligibility.optedOut.has(phoneKey) && !eligibility.reachesOptedOut ? 'opted-out' : null
}

export const itemKey = (orderId: string, itemId: string): string => `${orderId}\n${itemId}`

const buildReviewerKeys = (productId: string, email: string | null, phoneKey: string | null): string[] => [
  ...(email ? [`${productId}\n${emailKey(email)}`] : []),
  ...(phoneKey ? [`${productId}\n${phoneKey}`] : []),
]

/** Finds the items of these orders that the shopper has sent back, although the platform may know of no refund. */
export type FindReturned = (
  ctx: Context,
  orderIds: readonly string[],
) => Promise<readonly { orderId: string; itemId: string }[]>

/** Finds the items of these orders that were cancelled, refunded or returned. */
export async function findEndedItems(
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
  const returned = (orderIds.length > 0 && (await ctx.extensions.returnedItems?.(ctx, orderIds))) || []
  return new Map([
    ...returned.map(({ orderId, itemId }) => [itemKey(orderId, itemId), 'refunded'] as const),
    ...rows.map((row) => [itemKey(row.order_id, row.id), toEnd(row.is_cancelled)] as const),
  ])
}

const toEnd = (isCancelled: boolean) => (isCancelled ? 'order-cancelled' : 'refunded')

interface People {
  emails: string[]
  phones: string[]
  productIds: string[]
}

/** Finds which of these people have reviewed which of the products. */
async function findReviewed(ctx: Context, { emails, phones, productIds }: People): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom('product_reviews')
    .select(['product_id', 'customer_email as email', 'phone_key'])
    .where(isAmong('product_id', productIds))
    .where(hasProvenAuthor('product_reviews'))
    .where((eb) =>
      eb.or([
        sql<boolean>`${emailKeySql('customer_email')} = any(${emails}::text[])`,
        sql<boolean>`phone_key = any(${phones}::text[])`,
      ]),
    )
    .execute()
  return new Set(rows.flatMap((row) => buildReviewerKeys(row.product_id, row.email, row.phone_key)))
}

/**
 * Finds which of these people were asked about which of the products in the last 90 days, or are being asked. Ignores
 * the requests `excludedIds`.
 */
async function findRequested(
  ctx: Context,
  { emails, phones, productIds }: People,
  excludedIds: readonly string[],
): Promise<Set<string>> {
  const since = new Date(ctx.clock.ms() - requestIntervalMs)
  const rows = await ctx.db
    .selectFrom('review_dispatches')
    .select(['id', 'product_id', 'customer_email as email', 'phone_key'])
    .where(isAmong('product_id', productIds))
    .where((eb) =>
      eb.or([
        sql<boolean>`${emailKeySql('customer_email')} = any(${emails}::text[])`,
        sql<boolean>`phone_key = any(${phones}::text[])`,
      ]),
    )
    .where((eb) => eb.or([eb('status', '=', 'sending'), eb('last_sent_at', '>', since)]))
    .execute()
  const excluded = new Set(excludedIds)
  return new Set(
    rows
      .filter((row) => !excluded.has(row.id))
      .flatMap((row) => buildReviewerKeys(row.product_id, row.email, row.phone_key)),
  )
}

async function reachesOptedOut(ctx: Context, { message }: ReviewSettings): Promise<boolean> {
  const connection = await sending.findSelected(ctx)
  if (connection?.type !== 'official' || message.officialapiTemplateId === null) return false
  const template = await templates.get(ctx, message.officialapiTemplateId)
  return template?.status === 'approved' && template.category === 'utility'
}
