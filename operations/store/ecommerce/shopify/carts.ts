/**
 * Carts: Shopify tells of those whose shopper began to check out and left an address (its abandoned checkouts), open
 * and closed ones, in its own order. The order that one became is found by the checkout's token.
 */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { toCents, toMoney } from '#runtime/values/money'
import type { Cart } from '../port.ts'
import { nameOf } from './customers.ts'
import type { ShopifyClient } from './http/client.ts'
import { instantOf, plainId, writeCursor } from './http/ids.ts'
import { lineOf, type RestLineItem } from './order-map.ts'

export interface RestCheckout {
  id: number
  token: string
  email: string | null
  phone: string | null
  customer: { id: number; first_name: string | null; last_name: string | null; phone?: string | null } | null
  billing_address: Address | null
  shipping_address: Address | null
  line_items: (Omit<RestLineItem, 'id'> & { key: string })[]
  total_price: string
  currency: string
  abandoned_checkout_url: string
  completed_at: string | null
  updated_at: string
}

interface Address {
  first_name?: string | null
  last_name?: string | null
  phone?: string | null
}

const cartsAtOnce = 100

/** Where a walk stands: among which carts, on which page of Shopify's. */
type Place = [status: 'open' | 'closed', pageInfo: string | null]

export async function listCarts(
  client: ShopifyClient,
  store: ProviderStore,
  { updatedSince, cursor }: { updatedSince: Date; cursor?: string },
): Promise<{ carts: Cart[]; next: string | null }> {
  const [status, pageInfo]: Place = cursor === undefined ? ['open', null] : readPlace(cursor)
  const { body, next } = await client.rest<{ checkouts: RestCheckout[] }>(store, {
    path: 'checkouts.json',
    query: {
      limit: cartsAtOnce,
      // A later page takes no other question beside its own.
      ...(pageInfo ? { page_info: pageInfo } : { status, updated_at_min: updatedSince.toISOString() }),
    },
  })
  const since = updatedSince.getTime()
  const carts = body.checkouts.filter(({ updated_at }) => Date.parse(updated_at) >= since)
  const orders = await ordersOf(client, store, carts)
  const nextPlace: Place | null = next ? [status, next] : status === 'open' ? ['closed', null] : null
  return {
    carts: carts.map((checkout) => cartOf(checkout, orders.get(checkout.token) ?? null)),
    next: nextPlace && writeCursor(nextPlace),
  }
}

function readPlace(cursor: string): Place {
  try {
    const [status, page] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Place
    const isPlace = (status === 'open' || status === 'closed') && (page === null || typeof page === 'string')
    if (isPlace) return [status, page]
  } catch (error) {
    throw new Refused('bad-cursor', 'cursor: is none of this platform', { cause: error })
  }
  throw new Refused('bad-cursor', 'cursor: is none of this platform')
}

/** The orders that completed ones became, by token. Shopify ignores a filter that it does not know: each is compared. */
async function ordersOf(
  client: ShopifyClient,
  store: ProviderStore,
  checkouts: readonly RestCheckout[],
): Promise<Map<string, string>> {
  const tokens = checkouts.filter((each) => each.completed_at).map(({ token }) => token)
  if (tokens.length === 0) return new Map()
  const names = tokens.map((_, at) => `$q${at}: String!`).join(', ')
  const asked = tokens
    .map((_, at) => `o${at}: orders(first: 1, query: $q${at}) { nodes { id checkoutToken } }`)
    .join('\n')
  const answer = await client.graph<
    Record<string, { nodes: { id: string; checkoutToken: string | null }[] }>
  >(
    store,
    `query OrdersOfCheckouts(${names}) {\n${asked}\n}`,
    Object.fromEntries(tokens.map((token, at) => [`q${at}`, `checkout_token:${token}`])),
  )
  return new Map(
    tokens.flatMap((token, at) => {
      const order = answer[`o${at}`]?.nodes[0]
      return order?.checkoutToken === token ? [[token, plainId(order.id)] as const] : []
    }),
  )
}

function cartOf(checkout: RestCheckout, orderId: string | null): Cart {
  const { customer, billing_address: billing, shipping_address: shipping } = checkout
  return {
    id: String(checkout.id),
    customer: {
      id: customer ? String(customer.id) : null,
      name: nameOf(customer) ?? nameOf(billing) ?? nameOf(shipping),
      email: checkout.email || null,
      phone: checkout.phone || customer?.phone || shipping?.phone || billing?.phone || null,
    },
    // The lines of a checkout have keys instead of ids.
    items: checkout.line_items.map(({ key, ...item }) => ({ ...lineOf({ ...item, id: 0 }), id: key })),
    total: toMoney(toCents(checkout.total_price)),
    currency: checkout.currency,
    url: checkout.abandoned_checkout_url,
    orderId,
    lastActivityAt: instantOf(checkout.updated_at),
  }
}
