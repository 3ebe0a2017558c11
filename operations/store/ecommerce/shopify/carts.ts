/**
 * Lists carts, which are Shopify's abandoned checkouts: first the open ones, then the closed ones, each in Shopify's order.
 * A checkout exists once a shopper has entered an address.
 *
 * A completed checkout names the order that it became. If that order is not found, the checkout has no lines: nobody may be
 * asked to buy what they have bought.
 */

import { Refused } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import { inCurrency } from '#runtime/values/money'
import type { Cart, PlatformOrderItem } from '../port.ts'
import { findOrdersOf } from './checkouts.ts'
import { fullName } from './customers.ts'
import {
  type CartLinesFragment,
  type CartsQuery,
  cartsDocument,
  moreCartLinesDocument,
} from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId, toInstant, writeCursor } from './http/ids.ts'
import { toLine } from './order-map.ts'

type Checkout = CartsQuery['abandonedCheckouts']['nodes'][number]
type CartLine = CartLinesFragment['nodes'][number]

/** Marks our cursors since carts are read by GraphQL. */
const cursorVersion = 2

/** The content of our cursor: the status being listed, Shopify's cursor, and the version. */
type Place = [status: 'open' | 'closed', after: string | null]

export async function listCarts(
  client: ShopifyClient,
  store: ProviderStore,
  { updatedSince, cursor }: { updatedSince: Date; cursor?: string },
): Promise<{ carts: Cart[]; next: string | null }> {
  const [status, after]: Place = cursor === undefined ? ['open', null] : readPlace(cursor)
  const { abandonedCheckouts } = await client.graphVisible(store, cartsDocument, {
    after,
    query: `status:${status} AND updated_at:>='${updatedSince.toISOString()}'`,
  })
  const since = updatedSince.getTime()
  // Shopify compares in seconds and may return slightly older changes.
  const checkouts = abandonedCheckouts.nodes.filter(({ updatedAt }) => Date.parse(updatedAt) >= since)
  const completed = checkouts.filter(({ completedAt }) => completedAt)
  const orders = await findOrdersOf(client, store, completed)
  const carts: Cart[] = []
  for (const checkout of checkouts) {
    const orderId = orders.get(checkout.id) ?? null
    const isBought = checkout.completedAt !== null && orderId === null
    const lines = isBought ? [] : await listLines(client, store, checkout)
    carts.push(toCart(checkout, orderId, lines))
  }
  const end = getEndCursor(abandonedCheckouts.pageInfo)
  const next: Place | null = end !== null ? [status, end] : status === 'open' ? ['closed', null] : null
  return { carts, next: next && writeCursor([...next, cursorVersion]) }
}

/** Throws `Refused` for the cursor of an earlier version too: its reader starts again. */
function readPlace(cursor: string): Place {
  try {
    const [status, after, version] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    const isPlace =
      (status === 'open' || status === 'closed') && (after === null || typeof after === 'string')
    if (isPlace && version === cursorVersion) return [status, after]
  } catch (error) {
    throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again', {
      cause: error,
    })
  }
  throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again')
}

async function listLines(
  client: ShopifyClient,
  store: ProviderStore,
  { id, lineItems: first }: Checkout,
): Promise<CartLine[]> {
  const lines = [...first.nodes]
  const after = getEndCursor(first.pageInfo)
  if (after === null) return lines
  const read = async (cursor: string | null): Promise<CartLinesFragment | null> => {
    const { node } = await client.graphVisible(store, moreCartLinesDocument, { id, after: cursor })
    return node && 'lineItems' in node ? node.lineItems : null
  }
  for await (const page of readPages(read, (page) => page && getEndCursor(page.pageInfo), after)) {
    lines.push(...(page?.nodes ?? []))
  }
  return lines
}

function toCart(checkout: Checkout, orderId: string | null, lines: readonly CartLine[]): Cart {
  const { customer, billingAddress: billing, shippingAddress: shipping } = checkout
  const { amount, currencyCode: currency } = checkout.totalPriceSet.shopMoney
  const { toCents, toMoney } = inCurrency(currency)
  const phone = customer?.defaultPhoneNumber?.phoneNumber
  return {
    id: plainId(checkout.id),
    customer: {
      id: customer ? plainId(customer.id) : null,
      name: fullName(customer) ?? fullName(billing) ?? fullName(shipping),
      email: customer?.defaultEmailAddress?.emailAddress || null,
      phone: phone || shipping?.phone || billing?.phone || null,
    },
    items: lines.map((line) => toCartItem(line, currency)),
    total: toMoney(toCents(amount)),
    currency,
    url: checkout.abandonedCheckoutUrl,
    orderId,
    lastActivityAt: toInstant(checkout.updatedAt),
  }
}

function toCartItem(line: CartLine, currency: string): PlatformOrderItem {
  const { toCents, toMoney } = inCurrency(currency)
  const total = toMoney(toCents(line.discountedTotalPriceSet.shopMoney.amount))
  return { ...toLine(line, currency, []), total }
}
