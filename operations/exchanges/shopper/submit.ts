/** A shopper asks: the request, its number, its link, and what follows at once. */
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { amounts } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { sha256 } from '#runtime/values/ids'
import { amountOf, priceDifferenceOf, unitPriceOf } from '../requests/amounts.ts'
import { submitted } from '../requests/approve.ts'
import type { RequestRow } from '../requests/moves.ts'
import { attachPhotos, requirePhotos } from '../requests/photos.ts'
import { searchTextOf } from '../requests/search.ts'
import { lockOrder } from '../requests/units.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { type CheckedItem, checkedItems, refuseUnfit } from './checks.ts'
import { customerAddress } from './customer-address.ts'
import { offerOf } from './offer.ts'
import { type ReadOrder, readOrder } from './read-order.ts'
import type { Submission } from './schema.ts'
import { orderOfSession } from './session.ts'
import { addStatusLink, statusUrlOf } from './status-links.ts'
import { findVariants } from './variants.ts'

export interface Submitted {
  number: string
  status: string
  /** Of the link to its page. */
  token: string
}

/** What a machine learns that fills in everything: nothing is stored. */
export const trapped = (ctx: Context): { number: string; status: string; statusUrl: string } => ({
  number: `EX-${firstNumber}`,
  status: 'requested',
  statusUrl: statusUrlOf(ctx, randomBytes(24).toString('base64url')),
})

/** All that can be refused before the order is looked at. Refuses with 400. */
export function refuseFaults(ctx: Context, settings: ExchangeContent, submission: Submission): void {
  orderOfSession(ctx, submission.sessionToken)
  refuseUnfit(settings, submission)
}

/**
 * Stores a request of the session's order, which is read fresh first. Refuses with 400 what the form does not take,
 * with 409 what the order does not allow now. The same `filling` is one request. Not inside a transaction.
 */
export async function submitRequest(
  ctx: Context,
  settings: ExchangeContent,
  submission: Submission,
  filling = fillingOf(submission, submission.photoUrls ?? []),
): Promise<Submitted> {
  refuseFaults(ctx, settings, submission)
  const sent = await ofFilling(ctx, filling)
  if (sent) return sent
  const photoUrls = [...new Set(submission.photoUrls)]
  await requirePhotos(ctx, photoUrls)
  const order = await readOrder(ctx, { id: orderOfSession(ctx, submission.sessionToken) })
  if (!order)
    throw refuse('conflict', {
      en: 'This order is not there any more',
      'pt-BR': 'Este pedido não existe mais',
      es: 'Este pedido ya no existe',
    })
  return ctx.transaction(async (tx) => {
    await lockOrder(tx, order.id)
    const before = await ofFilling(tx, filling)
    if (before) return before
    const wanted = submission.items.flatMap(({ exchangeForVariantId }) => exchangeForVariantId ?? [])
    const variants = await findVariants(tx, wanted)
    const offer = await offerOf(tx, settings, order)
    const { offered, items } = checkedItems(settings, offer, submission, variants)
    const request = await insertRequest(tx, settings, {
      order,
      moneyLeft: offer.moneyLeft,
      submission,
      items,
      outsideWindow: offered.isOutside,
      photoUrls,
      filling,
    })
    const token = await addStatusLink(tx, request.id)
    const { number, status } = await submitted(tx, request, settings)
    return { number, status, token }
  })
}

interface Asked {
  order: ReadOrder
  /** Of what was paid for it; decimal text. */
  moneyLeft: string
  submission: Submission
  items: readonly CheckedItem[]
  outsideWindow: boolean
  photoUrls: readonly string[]
  filling: string
}

/** What a browser that sends one form twice sends both times: the lookup's token, and what was filled in. */
export const fillingOf = ({ photoUrls: _urls, ...filled }: Submission, photos: readonly string[]): string =>
  sha256(JSON.stringify([filled, photos]))

/** The request that it made already, with another link to it: what was taken back or turned down may be asked anew. */
async function ofFilling(ctx: Context, filling: string): Promise<Submitted | null> {
  const row = await ctx.db
    .selectFrom('exchange_requests')
    .select(['id', 'number', 'status'])
    .where('filling', '=', filling)
    .where('status', 'not in', ['rejected', 'cancelled', 'expired'])
    .executeTakeFirst()
  return row ? { number: row.number, status: row.status, token: await addStatusLink(ctx, row.id) } : null
}

async function insertRequest(tx: Context, settings: ExchangeContent, asked: Asked): Promise<RequestRow> {
  const { order, moneyLeft, submission, items, outsideWindow, photoUrls, filling } = asked
  const { type, comment, returnMethod, refundMethod } = submission
  const { customer } = order
  const number = await nextNumber(tx)
  const now = tx.now()
  const lines = items.map(({ places, item, exchangeFor }) => ({
    lineId: item.id,
    lineLeft: item.moneyLeft,
    lineTotal: item.total,
    ordered: item.quantity,
    units: places,
    exchangeUnitPrice: exchangeFor?.unitPrice ?? null,
  }))
  const ofLines = [...Map.groupBy(lines, ({ lineId }) => lineId).values()].map((own) =>
    amounts.toCents(amountOf(own, own[0]!.lineLeft)),
  )
  const amount = amounts.toMoney(amounts.lesser(amounts.sumOf(ofLines), amounts.toCents(moneyLeft)))
  const address = customerAddress(order, tx.store.country)
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
      price_difference: type === 'return' ? null : priceDifferenceOf(lines, amount),
      currency: order.currency,
      order_refunded: order.refundedTotal,
      outside_window: outsideWindow,
      return_method: returnMethod,
      return_address: returnAddress && JSON.stringify(returnAddress),
      refund_method: type === 'return' ? (refundMethod ?? settings.refundMethods[0]!) : null,
      search_text: searchTextOf({
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
      items.map((item, at) => ({ ...itemRow(tx, item, at), request_id: request.id, requested_at: now })),
    )
    .execute()
  await attachPhotos(tx, request.id, photoUrls)
  return request
}

const firstNumber = 1001

/** Taken for good by whoever's transaction holds. */
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

function itemRow(tx: Context, { asked, places, item, reason, exchangeFor }: CheckedItem, at: number) {
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
    quantity: asked.quantity,
    line_total: item.total,
    line_quantity: item.quantity,
    line_units: sql<number[]>`${places}::integer[]`,
    line_refunded: item.refundedQuantity,
    unit_price: unitPriceOf(item.total, item.quantity),
    reason: reason.key,
    reason_label: reason.label,
    comment: asked.comment || null,
    exchange_for:
      exchangeFor &&
      JSON.stringify({
        productId: exchangeFor.productId,
        variantId: exchangeFor.variantId,
        name: exchangeFor.name,
        variantName: exchangeFor.variantName,
        unitPrice: amounts.toNumber(amounts.toCents(exchangeFor.unitPrice)),
      }),
  }
}
