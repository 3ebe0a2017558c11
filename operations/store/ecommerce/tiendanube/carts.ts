/**
 * Lists carts, which are Tiendanube's abandoned checkouts. One exists once a shopper has reached the second step, appears up
 * to six hours later, and is listed for 30 days. It keeps its id when it becomes an order.
 */
import type { ProviderStore } from '#runtime/ports/provider'
import { inCurrency } from '#runtime/values/money'
import type { Cart } from '../port.ts'
import { pageSize, type TiendanubeClient } from './http/client.ts'
import { readPageCursor, toInstant, toInstantOrNull } from './http/values.ts'
import { type ApiLine, toLine } from './order-map.ts'

export interface ApiCheckout {
  id: number
  token: string
  abandoned_checkout_url: string
  contact_name: string | null
  contact_email: string | null
  contact_phone: string | null
  customer?: { id: number } | null
  products: ApiLine[]
  total: string
  currency: string
  /** Null or `-0001-11-30` until it became an order. Text, or an object as PHP writes it. */
  completed_at: string | { date: string } | null
  updated_at: string
}

export async function listCarts(
  client: TiendanubeClient,
  store: ProviderStore,
  { updatedSince, cursor }: { updatedSince: Date; cursor?: string },
): Promise<{ carts: Cart[]; next: string | null }> {
  const query = {
    // The documentation names only the upper bound: if this one is ignored, all of the 30 days come, and are filtered here.
    updated_at_min: updatedSince.toISOString(),
    page: readPageCursor(cursor),
    per_page: pageSize,
  }
  const { rows, next } = await client.list<ApiCheckout>(store, { path: 'checkouts', query })
  const changed = rows.filter(({ updated_at: at }) => Date.parse(at) >= updatedSince.getTime())
  return { carts: changed.map(toCart), next: next === null ? null : String(next) }
}

function toCart(checkout: ApiCheckout): Cart {
  const { toCents, toMoney } = inCurrency(checkout.currency)
  const { completed_at: completed } = checkout
  const completedAt = toInstantOrNull(typeof completed === 'string' ? completed : completed?.date)
  return {
    id: String(checkout.id),
    customer: {
      id: checkout.customer ? String(checkout.customer.id) : null,
      name: checkout.contact_name || null,
      email: checkout.contact_email || null,
      phone: checkout.contact_phone || null,
    },
    items: checkout.products.map((line) => toLine(line, checkout.currency)),
    total: toMoney(toCents(checkout.total)),
    currency: checkout.currency,
    url: checkout.abandoned_checkout_url,
    orderId: completedAt ? String(checkout.id) : null,
    lastActivityAt: toInstant(checkout.updated_at),
  }
}
