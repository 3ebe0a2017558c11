/**
 * Lists carts, which are Shopify's abandoned checkouts: first the open ones, then the closed ones, each in Shopify's order.
 * A checkout exists once a shopper has entered an address. The order that it became is found by the checkout's token.
 */

import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { hundredths } from '#runtime/values/money'
import type { Cart } from '../port.ts'
import { fullName } from './customers.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId, toInstant, writeCursor } from './http/ids.ts'
import { type RestLineItem, toLine } from './order-map.ts'

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

const pageSize = 100

/** The content of our cursor: the status being listed, and Shopify's `page_info`. */
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
      limit: pageSize,
      // Shopify accepts no other parameters with `page_info`.
      ...(pageInfo ? { page_info: pageInfo } : { status, updated_at_min: updatedSince.toISOString() }),
    },
  })
  const since = updatedSince.getTime()
  const carts = body.checkouts.filter(({ updated_at }) => Date.parse(updated_at) >= since)
  const orders = await findOrders(client, store, carts)
  const nextPlace: Place | null = next ? [status, next] : status === 'open' ? ['closed', null] : null
  return {
    carts: carts.map((checkout) => toCart(checkout, orders.get(checkout.token) ?? null)),
    next: nextPlace && writeCursor(nextPlace),
  }
}

function readPlace(cursor: string): Place {
  try {
    const [status, page] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Place
    const isPlace = (status === 'open' || status === 'closed') && (page === null || typeof page === 'string')
    if (isPlace) return [status, page]
  } catch (error) {
    throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again', {
      cause: error,
    })
  }
  throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again')
}

/**
 * The order ids of completed checkouts, by checkout token. Compares the token of each found order, because Shopify ignores a
 * filter that it does not know and then returns any order.
 */
async function findOrders(
  client: ShopifyClient,
  store: ProviderStore,
  checkouts: readonly RestCheckout[],
): Promise<Map<string, string>> {
  const tokens = checkouts.filter((each) => each.completed_at).map(({ token }) => token)
  if (tokens.length === 0) return new Map()
  const names = tokens.map((_, at) => `$q${at}: String!`).join(', ')
  const selections = tokens
    .map((_, at) => `o${at}: orders(first: 1, query: $q${at}) { nodes { id checkoutToken } }`)
    .join('\n')
  const answer = await client.graph<
    Record<string, { nodes: { id: string; checkoutToken: string | null }[] }>
  >(
    store,
    `query OrdersOfCheckouts(${names}) {\n${selections}\n}`,
    Object.fromEntries(tokens.map((token, at) => [`q${at}`, `checkout_token:${token}`])),
  )
  return new Map(
    tokens.flatMap((token, at) => {
      const order = answer[`o${at}`]?.nodes[0]
      return order?.checkoutToken === token ? [[token, plainId(order.id)] as const] : []
    }),
  )
}

function toCart(checkout: RestCheckout, orderId: string | null): Cart {
  const { customer, billing_address: billing, shipping_address: shipping } = checkout
  return {
    id: String(checkout.id),
    customer: {
      id: customer ? String(customer.id) : null,
      name: fullName(customer) ?? fullName(billing) ?? fullName(shipping),
      email: checkout.email || null,
      phone: checkout.phone || customer?.phone || shipping?.phone || billing?.phone || null,
    },
    // The lines of a checkout have keys instead of ids.
    items: checkout.line_items.map(({ key, ...item }) => ({
      ...toLine({ ...item, id: 0 }, checkout.currency),
      id: key,
    })),
    total: hundredths.toMoney(hundredths.toCents(checkout.total_price)),
    currency: checkout.currency,
    url: checkout.abandoned_checkout_url,
    orderId,
    lastActivityAt: toInstant(checkout.updated_at),
  }
}
