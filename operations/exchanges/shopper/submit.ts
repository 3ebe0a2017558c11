/**
 * Submits a shopper's request: stores it with its number and status link, then notifies and approves
 * (`handleSubmitted`).
 */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { sha256 } from '#runtime/values/ids'
import { computePriceDifference, computeRefundable, computeUnitPrice } from '../requests/amounts.ts'
import { handleSubmitted } from '../requests/approve.ts'
import { attachPhotos, requirePhotos } from '../requests/photos.ts'
import { type ReadOrder, readOrder } from '../requests/read-order.ts'
import { buildSearchText } from '../requests/search.ts'
import type { RequestRow } from '../requests/transitions.ts'
import { lockOrder, type OrderReservations } from '../requests/units.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { type CheckedItem, checkItems, validateForm } from './checks.ts'
import { parseCustomerAddress } from './customer-address.ts'
import { describeIneligibility } from './eligibility.ts'
import { buildOffer } from './offer.ts'
import type { Submission } from './schema.ts'
import { requireSession } from './session.ts'
import { addStatusLink, buildStatusUrl } from './status-links.ts'
import { findVariants } from './variants.ts'

export interface SubmissionResult {
  number: string
  status: string
  /** Token of the status link. */
  token: string
}

/** The fake answer for a bot that filled in the honeypot; nothing is stored. */
export const buildHoneypotAnswer = (ctx: Context): { number: string; status: string; statusUrl: string } => ({
  number: `EX-${firstNumber}`,
  status: 'requested',
  statusUrl: buildStatusUrl(ctx, randomBytes(24).toString('base64url')),
})

/** Validates everything that can be checked without the order. Refuses with 400. */
export function validateSubmission(ctx: Context, settings: ExchangeContent, submission: Submission): void {
  requireSession(ctx, submission.sessionToken)
  validateForm(settings, submission)
}

/**
 * Stores a request for the session's order, after reading the order live. Refuses an invalid form (400) and a request that
 * the order does not allow now (409). A form sent twice has the same hash (`filling`) and makes only one request. Not
 * inside a transaction.
 */
export async function submitRequest(
  ctx: Context,
  settings: ExchangeContent,
  submission: Submission,
  filling = hashForm(submission, submission.photoUrls ?? []),
): Promise<SubmissionResult> {
  validateSubmission(ctx, settings, submission)
  const sent = await findByFormHash(ctx, filling)
  if (sent) return sent
  const photoUrls = [...new Set(submission.photoUrls)]
  await requirePhotos(ctx, photoUrls)
  const order = await readOrder(ctx, { id: requireSession(ctx, submission.sessionToken) })
  if (!order)
    throw refuse('conflict', {
      en: 'This order is not there any more',
      'pt-BR': 'Este pedido não existe mais',
      es: 'Este pedido ya no existe',
    })
  return ctx.transaction(async (tx) => {
    await lockOrder(tx, order.id)
    const before = await findByFormHash(tx, filling)
    if (before) return before
    const variantIds = submission.items.flatMap(({ exchangeForVariantId }) => exchangeForVariantId ?? [])
    const variants = await findVariants(tx, variantIds)
    const offer = await buildOffer(tx, settings, order)
    const { offered, items } = checkItems(settings, offer, submission, variants)
    const request = await insertRequest(tx, settings, {
      order,
      reservations: offer.reservations,
      submission,
      items,
      outsideWindow: offered.isOutside,
      photoUrls,
      filling,
    })
    const token = await addStatusLink(tx, request.id)
    const { number, status } = await handleSubmitted(tx, request, settings, order)
    return { number, status, token }
  })
}

interface NewRequest {
  order: ReadOrder
  reservations: OrderReservations
  submission: Submission
  items: readonly CheckedItem[]
  outsideWindow: boolean
  photoUrls: readonly string[]
  filling: string
}

/** Hash of a form with its session token. It is equal when a browser sends the same form twice. */
export const hashForm = ({ photoUrls: _urls, ...filled }: Submission, photos: readonly string[]): string =>
  sha256(JSON.stringify([filled, photos]))

/**
 * The request that this form has already made, with a new status link, or null. Ignores a cancelled or rejected request,
 * because the shopper may request the same again.
 */
async function findByFormHash(ctx: Context, filling: string): Promise<SubmissionResult | null> {
  const row = await ctx.db
    .selectFrom('exchange_requests')
    .select(['id', 'number', 'status'])
    .where('filling', '=', filling)
    .where('status', 'not in', ['rejected', 'cancelled', 'expired'])
    .executeTakeFirst()
  return row ? { number: row.number, status: row.status, token: await addStatusLink(ctx, row.id) } : null
}

async function insertRequest(
  tx: Context,
  settings: ExchangeContent,
  requested: NewRequest,
): Promise<RequestRow> {
  const { order, reservations, submission, items, outsideWindow, photoUrls, filling } = requested
  const { type, comment, returnMethod, refundMethod } = submission
  const { customer } = order
  const number = await nextNumber(tx)
  const now = tx.now()
  const lines = items.map(({ places, item, exchangeFor }) => ({
    orderItemId: item.id,
    lineTotal: item.total,
    ordered: item.quantity,
    units: places,
    exchangeUnitPrice: exchangeFor?.unitPrice ?? null,
  }))
  const { amount, reason } = computeRefundable(order, reservations, lines, order.currency)
  if (reason !== null && Number(amount) === 0)
    throw refuse('conflict', describeIneligibility('no-units-left', ''))
  const address = parseCustomerAddress(order, tx.store.country)
  const { returnAddress } = settings
  const request = await tx.db
    .insertInto('exchange_requests')
    .values({
      id: tx.newId(),
      number,
      filling,
      type,
      status: 'requested',
      order_id: order.id,
      order_number: order.number,
      order_placed_at: order.placedAt,
      order_delivered_at: order.deliveredAt,
      customer_id: customer.id,
      customer_name: customer.name,
      customer_email: customer.email,
      customer_phone: customer.phone,
      customer_address: address && JSON.stringify(address),
      reasons: [...new Set(items.map(({ reason }) => reason.key))],
      photo_count: photoUrls.length,
      comment: comment || null,
      amount,
      amount_reason: reason,
      price_difference: type === 'return' ? null : computePriceDifference(lines, amount, order.currency),
      currency: order.currency,
      order_refunded: order.refundedTotal,
      outside_window: outsideWindow,
      return_method: returnMethod,
      return_address: returnAddress && JSON.stringify(returnAddress),
      refund_method: type === 'return' ? (refundMethod ?? settings.refundMethods[0]!) : null,
      search_text: buildSearchText({
        number,
        orderNumber: order.number,
        customerName: customer.name,
        customerEmail: customer.email,
        customerPhone: customer.phone,
        items: items.map(({ item }) => item),
      }),
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await tx.db
    .insertInto('exchange_items')
    .values(
      items.map((item, at) => ({
        ...toItemRow(tx, item, at, order.currency),
        request_id: request.id,
        requested_at: now,
      })),
    )
    .execute()
  await attachPhotos(tx, request.id, photoUrls)
  return request
}

const firstNumber = 1001

/** Takes the next request number. If the transaction rolls back, the number stays available. */
async function nextNumber(tx: Context): Promise<string> {
  const { last } = await tx.db
    .insertInto('exchange_numbers')
    .values({ last: firstNumber })
    .onConflict((conflict) =>
      conflict.column('store_id').doUpdateSet((eb) => ({ last: eb('exchange_numbers.last', '+', 1) })),
    )
    .returning('last')
    .executeTakeFirstOrThrow()
  return `EX-${last}`
}

function toItemRow(
  tx: Context,
  { requested, places, item, reason, exchangeFor }: CheckedItem,
  at: number,
  currency: string,
) {
  return {
    id: tx.newId(),
    position: at + 1,
    order_item_id: item.id,
    product_id: item.productId,
    variant_id: item.variantId,
    sku: item.sku,
    name: item.name,
    variant_name: item.variantName,
    image_url: item.imageUrl,
    quantity: requested.quantity,
    line_total: item.total,
    line_quantity: item.quantity,
    line_units: sql<number[]>`${places}::integer[]`,
    line_refunded: item.refundedQuantity,
    unit_price: computeUnitPrice(item.total, item.quantity, currency),
    reason: reason.key,
    reason_label: reason.label,
    comment: requested.comment || null,
    exchange_for:
      exchangeFor &&
      JSON.stringify({
        productId: exchangeFor.productId,
        variantId: exchangeFor.variantId,
        name: exchangeFor.name,
        variantName: exchangeFor.variantName,
        unitPrice: Number(exchangeFor.unitPrice),
      }),
  }
}
