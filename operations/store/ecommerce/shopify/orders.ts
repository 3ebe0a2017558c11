/**
 * Lists orders, oldest change first. GraphQL returns their order of change and the payment dates, REST everything else.
 * Without the permission `read_all_orders`, Shopify returns only orders of the last 60 days. Test orders are skipped.
 */
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import type { PlatformOrder } from '../port.ts'
import type { ShopifyClient } from './http/client.ts'
import { isPlainId, plainId, toGid, toInstant, writeCursor } from './http/ids.ts'
import { type OrderFacts, parseNumber, type RestOrder, toOrder } from './order-map.ts'

/** Orders per page: few enough to keep the query below Shopify's limit of 1,000 cost points. */
const pageSize = 40
/** Shopify pages through at most 25,000 objects, so after 20,000 the cursor starts again at the last change. */
const maxWalked = 20_000

const facts = `
  id name updatedAt test
  transactions(first: 10) { kind status processedAt }
  fulfillments(first: 5) { deliveredAt }
  paymentCollectionDetails { additionalPaymentCollectionUrl }
  totalRefundedSet { shopMoney { amount } }`

const changesDocument = `query OrderChanges($first: Int!, $after: String, $query: String!) {
  orders(first: $first, after: $after, query: $query, sortKey: UPDATED_AT) {
    nodes { ${facts} }
    pageInfo { hasNextPage endCursor }
  }
}`
const oneDocument = `query Order($id: ID!) { order(id: $id) { ${facts} } }`
const numberDocument = `query OrderByNumber($query: String!) {
  orders(first: 10, query: $query) { nodes { ${facts} } }
}`

type Node = OrderFacts & { id: string; name: string; updatedAt: string; test: boolean }
interface Changes {
  orders: { nodes: Node[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
}

/** The content of our cursor: start of the changes, Shopify's cursor, and the number of orders read since that start. */
type CursorState = [since: string, after: string | null, walked: number]

export async function listOrders(
  client: ShopifyClient,
  store: ProviderStore,
  { updatedSince, cursor }: { updatedSince: Date; cursor?: string },
): Promise<{ orders: PlatformOrder[]; next: string | null }> {
  const [since, after, walked]: CursorState =
    cursor === undefined ? [updatedSince.toISOString(), null, 0] : readPlace(cursor)
  const { orders } = await client.graph<Changes>(store, changesDocument, {
    first: pageSize,
    after,
    query: `updated_at:>='${since}'`,
  })
  // Shopify compares in seconds and may return slightly older changes.
  const changed = orders.nodes.filter((node) => !node.test && Date.parse(node.updatedAt) >= Date.parse(since))
  const found = await loadContent(client, store, changed)
  return { orders: found, next: nextPlace([since, after, walked], orders) }
}

function nextPlace([since, , walked]: CursorState, { nodes, pageInfo }: Changes['orders']): string | null {
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

export async function getOrder(
  client: ShopifyClient,
  store: ProviderStore,
  query: { id: string } | { number: string },
): Promise<PlatformOrder | null> {
  const node =
    'id' in query ? await byId(client, store, query.id) : await byNumber(client, store, query.number)
  if (!node || node.test) return null
  const [order] = await loadContent(client, store, [node])
  return order ?? null
}

async function byId(client: ShopifyClient, store: ProviderStore, id: string): Promise<Node | null> {
  if (!isPlainId(id)) return null
  const { order } = await client.graph<{ order: Node | null }>(store, oneDocument, { id: toGid('Order', id) })
  return order
}

async function byNumber(client: ShopifyClient, store: ProviderStore, number: string): Promise<Node | null> {
  const text = number.trim()
  if (!/^[\w#./ -]{1,60}$/.test(text)) return null
  const { orders } = await client.graph<{ orders: { nodes: Node[] } }>(store, numberDocument, {
    query: `name:"${parseNumber(text)}" OR name:"#${parseNumber(text)}"`,
  })
  return orders.nodes.find(({ name }) => parseNumber(name) === parseNumber(text)) ?? null
}

async function loadContent(
  client: ShopifyClient,
  store: ProviderStore,
  nodes: readonly Node[],
): Promise<PlatformOrder[]> {
  if (nodes.length === 0) return []
  const known = new Map(nodes.map((node) => [plainId(node.id), node]))
  const { body } = await client.rest<{ orders: RestOrder[] }>(store, {
    path: 'orders.json',
    query: { ids: [...known.keys()].join(','), status: 'any', limit: pageSize },
  })
  return body.orders
    .flatMap((order) => {
      const node = known.get(String(order.id))
      return node ? [toOrder(order, node)] : []
    })
    .sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : a.updatedAt > b.updatedAt ? 1 : a.id < b.id ? -1 : 1))
}
