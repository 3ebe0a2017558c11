/**
 * Lists orders, oldest change first. Without the permission `read_all_orders`, Shopify returns only orders of the last 60
 * days. Test orders are skipped.
 */
import type { Clock } from '#runtime/clock'
import { dayMs, minuteMs } from '#runtime/durations'
import { Refused } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { PlatformOrder } from '../port.ts'
import { findCartsOf } from './checkouts.ts'
import {
  moreOrderLinesDocument,
  type OrderChangesQuery,
  type OrderContentFragment,
  orderByNumberDocument,
  orderChangesDocument,
  orderDocument,
  refundsDocument,
} from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { isPlainId, toGid, toInstant, writeCursor } from './http/ids.ts'
import { type OrderLine, parseNumber, type RefundLine, toOrder } from './order-map.ts'

/** Shopify pages through at most 25,000 objects, so after 20,000 the cursor starts again at the last change. */
const maxWalked = 20_000
/** The cart of an older order names its order by itself: the carts were read since. */
const cartSearchMs = dayMs

/** The content of our cursor: start of the changes, Shopify's cursor, and the number of orders read since that start. */
type CursorState = [since: string, after: string | null, walked: number]

export class ShopifyOrders {
  readonly #client: ShopifyClient
  readonly #clock: Clock

  constructor(client: ShopifyClient, clock: Clock) {
    this.#client = client
    this.#clock = clock
  }

  async list(
    store: ProviderStore,
    { updatedSince, cursor }: { updatedSince: Date; cursor?: string },
  ): Promise<{ orders: PlatformOrder[]; next: string | null }> {
    const [since, after, walked]: CursorState =
      cursor === undefined ? [updatedSince.toISOString(), null, 0] : readPlace(cursor)
    const query = `updated_at:>='${since}'`
    const { orders } = await this.#client.graphVisible(store, orderChangesDocument, { after, query })
    // Shopify compares in seconds and may return slightly older changes.
    const changed = orders.nodes.filter(
      (order) => !order.test && Date.parse(order.updatedAt) >= Date.parse(since),
    )
    const found = await this.#complete(store, changed)
    return { orders: found, next: nextPlace([since, after, walked], orders) }
  }

  async get(store: ProviderStore, query: { id: string } | { number: string }): Promise<PlatformOrder | null> {
    const order =
      'id' in query ? await this.#byId(store, query.id) : await this.#byNumber(store, query.number)
    if (!order || order.test) return null
    const [complete] = await this.#complete(store, [order])
    return complete ?? null
  }

  async #byId(store: ProviderStore, id: string): Promise<OrderContentFragment | null> {
    if (!isPlainId(id)) return null
    return (await this.#client.graphVisible(store, orderDocument, { id: toGid('Order', id) })).order
  }

  async #byNumber(store: ProviderStore, number: string): Promise<OrderContentFragment | null> {
    const text = number.trim()
    if (!/^[\w#./ -]{1,60}$/.test(text)) return null
    const { orders } = await this.#client.graphVisible(store, orderByNumberDocument, {
      query: `name:"${parseNumber(text)}" OR name:"#${parseNumber(text)}"`,
    })
    return orders.nodes.find(({ name }) => parseNumber(name) === parseNumber(text)) ?? null
  }

  /** Reads what an order may have more of than one query returns: lines and refunds; and the carts of new orders. */
  async #complete(store: ProviderStore, orders: readonly OrderContentFragment[]): Promise<PlatformOrder[]> {
    const carts = await this.#findCarts(store, orders)
    const complete: PlatformOrder[] = []
    for (const order of orders) {
      const lines = await this.#listLines(store, order)
      const hasRefunds = lines.some(({ quantity, currentQuantity }) => quantity !== currentQuantity)
      const refundLines = hasRefunds ? await this.#listRefundLines(store, order) : []
      complete.push(toOrder(order, { lines, refundLines, cartId: carts.get(order.id) ?? null }))
    }
    return complete.sort((a, b) =>
      a.updatedAt < b.updatedAt ? -1 : a.updatedAt > b.updatedAt ? 1 : a.id < b.id ? -1 : 1,
    )
  }

  async #findCarts(
    store: ProviderStore,
    orders: readonly OrderContentFragment[],
  ): Promise<Map<string, string>> {
    const begin = this.#clock.ms() - cartSearchMs
    const recent = orders.filter(({ createdAt }) => Date.parse(createdAt) >= begin)
    if (recent.length === 0) return new Map()
    const first = Math.min(...recent.map(({ createdAt }) => Date.parse(createdAt)))
    return findCartsOf(this.#client, store, recent, new Date(first - 5 * minuteMs))
  }

  async #listLines(
    store: ProviderStore,
    { id, lineItems: first }: OrderContentFragment,
  ): Promise<OrderLine[]> {
    const lines = [...first.nodes]
    const after = getEndCursor(first.pageInfo)
    if (after === null) return lines
    const read = async (cursor: string | null) =>
      (await this.#client.graphVisible(store, moreOrderLinesDocument, { id, after: cursor })).order?.lineItems
    for await (const page of readPages(read, (page) => page && getEndCursor(page.pageInfo), after)) {
      lines.push(...(page?.nodes ?? []))
    }
    return lines
  }

  async #listRefundLines(store: ProviderStore, { id }: OrderContentFragment): Promise<RefundLine[]> {
    const { order } = await this.#client.graphVisible(store, refundsDocument, { id })
    return (order?.refunds ?? []).flatMap(({ refundLineItems }) => refundLineItems?.nodes ?? [])
  }
}

function nextPlace(
  [since, , walked]: CursorState,
  { nodes, pageInfo }: OrderChangesQuery['orders'],
): string | null {
  const last = nodes.at(-1)
  if (!pageInfo.hasNextPage || !last) return null
  const sofar = walked + nodes.length
  return sofar < maxWalked
    ? writeCursor([since, pageInfo.endCursor, sofar])
    : writeCursor([toInstant(last.updatedAt), null, 0])
}

function readPlace(cursor: string): CursorState {
  try {
    const [since, after, walked] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as CursorState
    const isPlace = !Number.isNaN(Date.parse(since)) && (after === null || typeof after === 'string')
    if (isPlace && Number.isInteger(walked)) return [since, after, walked]
  } catch (error) {
    throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again', {
      cause: error,
    })
  }
  throw new Refused('bad-cursor', 'cursor: was not issued by this platform, leave it out to start again')
}
