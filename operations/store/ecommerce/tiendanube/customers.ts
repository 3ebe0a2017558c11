/**
 * Lists customers. Tiendanube reports only what a customer spent in all; number and dates of the orders that count are
 * computed from the orders. It reports no birthdays.
 */
import type { ProviderStore } from '#runtime/ports/provider'
import { inCurrency } from '#runtime/values/money'
import type { PlatformCustomer } from '../port.ts'
import { pageSize, type TiendanubeClient } from './http/client.ts'
import { readPageCursor } from './http/values.ts'
import { computeTotals, placedAtOf, toPaymentStatus } from './order-map.ts'
import { listOrdersOfCustomers } from './orders.ts'
import type { ShopFacts } from './shop.ts'

export interface ApiCustomer {
  id: number
  name: string | null
  email: string | null
  phone: string | null
  default_address?: { phone: string | null } | null
  last_order_id: number | null
  accepts_marketing?: boolean
}

/** If `birthdays` are given, there are no customers, because nobody's birthday is known. */
export async function listCustomers(
  client: TiendanubeClient,
  store: ProviderStore,
  { cursor, limit, birthdays }: { cursor?: string; limit: number; birthdays?: string[] },
  shop: ShopFacts,
): Promise<{ customers: PlatformCustomer[]; next: string | null }> {
  const page = readPageCursor(cursor)
  if (birthdays) return { customers: [], next: null }
  const query = { page, per_page: Math.min(limit, pageSize) }
  const { rows, next } = await client.list<ApiCustomer>(store, { path: 'customers', query })
  const figures = await computeFigures(client, store, rows, shop.currency)
  return {
    customers: rows.map((customer) => toCustomer(customer, figures.get(customer.id), shop.currency)),
    next: next === null ? null : String(next),
  }
}

interface Figures {
  count: number
  cents: bigint
  firstAt: string
  lastAt: string
}

/** The figures of paid orders that were not cancelled, without what was refunded. */
async function computeFigures(
  client: TiendanubeClient,
  store: ProviderStore,
  customers: readonly ApiCustomer[],
  currency: string,
): Promise<Map<number, Figures>> {
  const figures = new Map<number, Figures>()
  const buyers = customers.flatMap(({ id, last_order_id: last }) => (last === null ? [] : [id]))
  if (buyers.length === 0) return figures
  for (const { order, history } of await listOrdersOfCustomers(client, store, buyers)) {
    const status = toPaymentStatus(order.payment_status)
    if (!order.customer || order.status === 'cancelled') continue
    if (status !== 'paid' && status !== 'partially-refunded') continue
    const { total, refunded } = computeTotals(order, history)
    const cents = order.currency === currency ? total - refunded : 0n
    const at = placedAtOf(order)
    const sum = figures.get(order.customer.id) ?? { count: 0, cents: 0n, firstAt: at, lastAt: at }
    figures.set(order.customer.id, {
      count: sum.count + 1,
      cents: sum.cents + cents,
      firstAt: at < sum.firstAt ? at : sum.firstAt,
      lastAt: at > sum.lastAt ? at : sum.lastAt,
    })
  }
  return figures
}

const toCustomer = (
  customer: ApiCustomer,
  figures: Figures | undefined,
  currency: string,
): PlatformCustomer => ({
  id: String(customer.id),
  name: customer.name || null,
  email: customer.email || null,
  phone: customer.phone || customer.default_address?.phone || null,
  birthDate: null,
  ordersCount: figures?.count ?? 0,
  totalSpent: inCurrency(currency).toMoney(figures?.cents ?? 0n),
  firstOrderAt: figures?.firstAt ?? null,
  lastOrderAt: figures?.lastAt ?? null,
  acceptsMarketing: customer.accepts_marketing === true,
})
