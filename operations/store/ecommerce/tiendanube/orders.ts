/**
 * Lists orders, oldest change first. Tiendanube lists them in an order that it does not document, and no list is longer than
 * 10,000. So the time since the last sync is divided into spans with one page of changes each, which are sorted here.
 */
import type { Clock } from '#runtime/clock'
import { dayMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import type { PlatformOrder } from '../port.ts'
import type { ListPage, TiendanubeClient } from './http/client.ts'
import { badCursor, isPlainId } from './http/values.ts'
import { type ApiOrder, type ApiValueChange, hasRefund, toOrder } from './order-map.ts'

const ordersAtOnce = 100
/** No shop is older. */
const beginning = Date.parse('2011-01-01T00:00:00Z')
/** Tiendanube compares in seconds. */
const shortestMs = 1000
const aggregates = 'fulfillment_orders'

/** The content of our cursor: start and length of the next span. */
type CursorState = [fromMs: number, spanMs: number]

export async function listOrders(
  client: TiendanubeClient,
  store: ProviderStore,
  { updatedSince, cursor }: { updatedSince: Date; cursor?: string },
  clock: Clock,
): Promise<{ orders: PlatformOrder[]; next: string | null }> {
  // Later than any change, even if the clocks differ.
  const end = clock.ms() + dayMs
  const from = Math.max(updatedSince.getTime(), beginning)
  const state: CursorState = cursor === undefined ? [from, end - from] : readCursor(cursor)
  const { found, to, spanMs } = await readSpan(client, store, state, end)
  const sorted = found.toSorted((a, b) => Date.parse(a.updated_at) - Date.parse(b.updated_at))
  const orders: PlatformOrder[] = []
  for (const order of sorted) orders.push(toOrder(order, await readHistory(client, store, order)))
  return { orders, next: to >= end ? null : writeCursor([to, spanMs]) }
}

/** Reads the changes of a span that has at most one page of them, by halving it until it has. */
async function readSpan(
  client: TiendanubeClient,
  store: ProviderStore,
  [from, firstSpanMs]: CursorState,
  end: number,
): Promise<{ found: ApiOrder[]; to: number; spanMs: number }> {
  for (let spanMs = Math.max(firstSpanMs, shortestMs); ; spanMs = halve(spanMs)) {
    const to = Math.min(from + spanMs, end)
    const isLast = to >= end
    const query = {
      // A second more at each side: whether the bounds are part of the list is not documented.
      updated_at_min: toSeconds(from - shortestMs),
      ...(isLast ? {} : { updated_at_max: toSeconds(to + shortestMs) }),
      aggregates,
    }
    const isInside = ({ updated_at: at }: ApiOrder): boolean =>
      Date.parse(at) >= from && (isLast || Date.parse(at) < to)
    const page = await readFirstPage(client, store, query, spanMs)
    if (page && page.next === null) {
      const found = page.rows.filter(isInside)
      // A span with few changes is followed by a longer one.
      return { found, to, spanMs: found.length * 2 < ordersAtOnce ? spanMs * 2 : spanMs }
    }
    if (spanMs <= shortestMs) {
      const all = await client.listAll<ApiOrder>(store, { path: 'orders', query })
      return { found: all.filter(isInside), to, spanMs }
    }
  }
}

/** Null if Tiendanube refuses the list, which may be because it is longer than 10,000. */
async function readFirstPage(
  client: TiendanubeClient,
  store: ProviderStore,
  query: Record<string, string>,
  spanMs: number,
): Promise<ListPage<ApiOrder> | null> {
  try {
    const request = { path: 'orders', query: { ...query, page: 1, per_page: ordersAtOnce } }
    return await client.list<ApiOrder>(store, request)
  } catch (error) {
    if (error instanceof Refused && error.code === 'refused' && spanMs > shortestMs) return null
    throw error
  }
}

const halve = (spanMs: number): number => Math.max(shortestMs, Math.floor(spanMs / 2000) * 1000)
const toSeconds = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** Reads the changes of the order's value if money went back. */
async function readHistory(
  client: TiendanubeClient,
  store: ProviderStore,
  order: Pick<ApiOrder, 'id' | 'payment_status'>,
): Promise<ApiValueChange[]> {
  if (!hasRefund(order)) return []
  const path = `orders/${order.id}/history/values`
  return (await client.find<ApiValueChange[]>(store, { path })) ?? []
}

export async function getOrder(
  client: TiendanubeClient,
  store: ProviderStore,
  query: { id: string } | { number: string },
): Promise<PlatformOrder | null> {
  const order =
    'id' in query ? await findById(client, store, query.id) : await findByNumber(client, store, query.number)
  return order && toOrder(order, await readHistory(client, store, order))
}

async function findById(
  client: TiendanubeClient,
  store: ProviderStore,
  id: string,
): Promise<ApiOrder | null> {
  if (!isPlainId(id)) return null
  return client.find<ApiOrder>(store, { path: `orders/${id}`, query: { aggregates } })
}

async function findByNumber(
  client: TiendanubeClient,
  store: ProviderStore,
  given: string,
): Promise<ApiOrder | null> {
  const number = given.trim().replace(/^#/, '')
  if (!isPlainId(number)) return null
  // `q` also finds the number in names and emails.
  const query = { q: number, per_page: ordersAtOnce, aggregates }
  const { rows } = await client.list<ApiOrder>(store, { path: 'orders', query })
  return rows.find((order) => String(order.number) === number) ?? null
}

const writeCursor = (state: CursorState): string => Buffer.from(JSON.stringify(state)).toString('base64url')

function readCursor(cursor: string): CursorState {
  try {
    const [from, spanMs] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as CursorState
    if (Number.isSafeInteger(from) && Number.isSafeInteger(spanMs) && spanMs > 0) return [from, spanMs]
  } catch (error) {
    throw badCursor(error)
  }
  throw badCursor()
}

/** Orders of some customers with what their figures need, and the refunds of those that have any. */
export async function listOrdersOfCustomers(
  client: TiendanubeClient,
  store: ProviderStore,
  customerIds: readonly number[],
): Promise<{ order: ApiOrder; history: ApiValueChange[] }[]> {
  const query = {
    customer_ids: customerIds.join(','),
    fields: 'id,customer,status,payment_status,total,currency,created_at,updated_at',
  }
  const orders = await client.listAll<ApiOrder>(store, { path: 'orders', query })
  const found: { order: ApiOrder; history: ApiValueChange[] }[] = []
  for (const order of orders) found.push({ order, history: await readHistory(client, store, order) })
  return found
}
