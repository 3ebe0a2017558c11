/**
 * Links abandoned checkouts and orders. Neither names the other, but the recovery URL of a checkout contains a token that
 * the order has too: the cart's (`/checkouts/ac/<token>/recover`), or the checkout's (`/checkouts/<token>/recover`).
 */
import type { ProviderStore } from '#runtime/ports/provider'
import { cartsOfOrdersDocument, ordersOfCartsDocument } from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'

interface Checkout {
  id: string
  abandonedCheckoutUrl: string
}

interface OrderTokens {
  id: string
  cartToken: string | null
  checkoutToken: string | null
}

/** Checkouts per query, which has two terms for each. */
const batchSize = 25

/** The token in a recovery URL, or null. */
function findToken({ abandonedCheckoutUrl }: Checkout): string | null {
  const path = URL.parse(abandonedCheckoutUrl)?.pathname ?? ''
  return /\/checkouts\/(?:[a-z]{2}\/)?([\w-]+)(?:\/|$)/.exec(path)?.[1] ?? null
}

const tokensOf = ({ cartToken, checkoutToken }: Omit<OrderTokens, 'id'>): string[] =>
  // A cart's token may be followed by a key.
  [cartToken, checkoutToken].flatMap((token) => (token ? token.split('?', 1)[0]! : []))

/** The ids of the orders that these checkouts became, by Shopify's id of the checkout. */
export async function findOrdersOf(
  client: ShopifyClient,
  store: ProviderStore,
  checkouts: readonly Checkout[],
): Promise<Map<string, string>> {
  const orders = new Map<string, string>()
  for (let i = 0; i < checkouts.length; i += batchSize) {
    const tokens = checkouts.slice(i, i + batchSize).flatMap((checkout) => findToken(checkout) ?? [])
    if (tokens.length === 0) continue
    const query = tokens.map((token) => `cart_token:${token} OR checkout_token:${token}`).join(' OR ')
    const found = await client.graph(store, ordersOfCartsDocument, { query })
    // Compared here too, because Shopify ignores a filter that it does not know, and then returns any order.
    for (const order of found.orders.nodes) {
      for (const token of tokensOf(order)) orders.set(token, plainId(order.id))
    }
  }
  return new Map(
    checkouts.flatMap((checkout) => {
      const order = orders.get(findToken(checkout) ?? '')
      return order === undefined ? [] : [[checkout.id, order] as const]
    }),
  )
}

/** The ids of the carts that became these orders, by Shopify's id of the order. Only for orders since `since`. */
export async function findCartsOf(
  client: ShopifyClient,
  store: ProviderStore,
  orders: readonly OrderTokens[],
  since: Date,
): Promise<Map<string, string>> {
  const known = new Map(orders.flatMap((order) => tokensOf(order).map((token) => [token, order.id] as const)))
  if (known.size === 0) return new Map()
  const query = `updated_at:>='${since.toISOString()}'`
  const { abandonedCheckouts } = await client.graphVisible(store, cartsOfOrdersDocument, { query })
  return new Map(
    abandonedCheckouts.nodes.flatMap((checkout) => {
      const order = known.get(findToken(checkout) ?? '')
      return order === undefined ? [] : [[order, plainId(checkout.id)] as const]
    }),
  )
}
