/**
 * Orders, the oldest change first: GraphQL puts them in order and tells when they were paid, REST tells the rest.
 * Without the permission `read_all_orders` Shopify shows those of the last 60 days. Test orders are passed over.
 */
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import type { PlatformOrder } from '../port.ts'
import type { ShopifyClient } from './http/client.ts'
import { gidOf, instantOf, isPlainId, plainId, writeCursor } from './http/ids.ts'
import { numberOf, type OrderFacts, orderOf, type RestOrder } from './order-map.ts'

/** With what is asked of each this costs less than the 1,000 points that one query may. */
const ordersAtOnce = 40
/** Shopify turns no pages beyond 25,000 objects: before that a walk begins anew where it stands. */
const walkedAtMost = 20_000

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

/** Where a walk stands: since when, after which cursor of Shopify's, after how many orders. */
type Place = [since: string, after: string | null, walked: number]

export async function listOrders(
  client: ShopifyClient,
  store: ProviderStore,
  { updatedSince, cursor }: { updatedSince: Date; cursor?: string },
): Promise<{ orders: PlatformOrder[]; next: string | null }> {
  const [since, after, walked]: Place =
    cursor === undefined ? [updatedSince.toISOString(), null, 0] : readPlace(cursor)
  const { orders } = await client.graph<Changes>(store, changesDocument, {
    first: ordersAtOnce,
    after,
    query: `updated_at:>='${since}'`,
  })
  // Shopify counts in seconds: it may answer with what changed a moment before.
  const wanted = orders.nodes.filter((node) => !node.test && Date.parse(node.updatedAt) >= Date.parse(since))
  const found = await withContent(client, store, wanted)
  return { orders: found, next: nextPlace([since, after, walked], orders) }
}

function nextPlace([since, , walked]: Place, { nodes, pageInfo }: Changes['orders']): string | null {
  const last = nodes.at(-1)
  if (!pageInfo.hasNextPage || !last) return null
  const sofar = walked + nodes.length
  return sofar < walkedAtMost
    ? writeCursor([since, pageInfo.endCursor, sofar])
    : writeCursor([instantOf(last.updatedAt), null, 0])
}

function readPlace(cursor: string): Place {
  try {
    const [since, after, walked] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Place
    const isPlace = !Number.isNaN(Date.parse(since)) && (after === null || typeof after === 'string')
    if (isPlace && Number.isInteger(walked)) return [since, after, walked]
  } catch (error) {
    throw new Refused('bad-cursor', 'cursor: is none of this platform', { cause: error })
  }
  throw new Refused('bad-cursor', 'cursor: is none of this platform')
}

export async function getOrder(
  client: ShopifyClient,
  store: ProviderStore,
  query: { id: string } | { number: string },
): Promise<PlatformOrder | null> {
  const node =
    'id' in query ? await byId(client, store, query.id) : await byNumber(client, store, query.number)
  if (!node || node.test) return null
  const [order] = await withContent(client, store, [node])
  return order ?? null
}

async function byId(client: ShopifyClient, store: ProviderStore, id: string): Promise<Node | null> {
  if (!isPlainId(id)) return null
  const { order } = await client.graph<{ order: Node | null }>(store, oneDocument, { id: gidOf('Order', id) })
  return order
}

async function byNumber(client: ShopifyClient, store: ProviderStore, number: string): Promise<Node | null> {
  const text = number.trim()
  if (!/^[\w#./ -]{1,60}$/.test(text)) return null
  const { orders } = await client.graph<{ orders: { nodes: Node[] } }>(store, numberDocument, {
    query: `name:"${numberOf(text)}" OR name:"#${numberOf(text)}"`,
  })
  return orders.nodes.find(({ name }) => numberOf(name) === numberOf(text)) ?? null
}

async function withContent(
  client: ShopifyClient,
  store: ProviderStore,
  nodes: readonly Node[],
): Promise<PlatformOrder[]> {
  if (nodes.length === 0) return []
  const known = new Map(nodes.map((node) => [plainId(node.id), node]))
  const { body } = await client.rest<{ orders: RestOrder[] }>(store, {
    path: 'orders.json',
    query: { ids: [...known.keys()].join(','), status: 'any', limit: ordersAtOnce },
  })
  return body.orders
    .flatMap((order) => {
      const node = known.get(String(order.id))
      return node ? [orderOf(order, node)] : []
    })
    .sort((a, b) => (a.updatedAt < b.updatedAt ? -1 : a.updatedAt > b.updatedAt ? 1 : a.id < b.id ? -1 : 1))
}
