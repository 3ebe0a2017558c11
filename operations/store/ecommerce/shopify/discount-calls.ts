/** GraphQL calls for Shopify's automatic discounts. */

import { minuteMs } from '#runtime/durations'
import { Unavailable } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { buildDiscountInput, DiscountNode } from './discount-map.ts'
import { requireNoErrors, type UserError } from './http/answers.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId, toGid } from './http/ids.ts'

type Input = ReturnType<typeof buildDiscountInput>

const items = `items {
  ... on AllDiscountItems { allItems }
  ... on DiscountProducts { products(first: $itemsAtMost) { nodes { id } } }
  ... on DiscountCollections { collections(first: $itemsAtMost) { nodes { id } } }
}`

const findDocument = `query Discount($id: ID!, $itemsAtMost: Int!) {
  discountNode(id: $id) {
    id
    discount {
      __typename
      ... on DiscountAutomaticBxgy {
        title createdAt startsAt endsAt usesPerOrderLimit asyncUsageCount
        combinesWith { productDiscounts orderDiscounts shippingDiscounts }
        customerBuys { value { ... on DiscountQuantity { quantity } } ${items} }
        customerGets {
          value {
            ... on DiscountOnQuantity { quantity { quantity } effect { ... on DiscountPercentage { percentage } } }
          }
          ${items}
        }
      }
    }
  }
}`

/**
 * Reads a discount; null if it was deleted. `maxItems`: how many products and collections to read. Pass one more than ours
 * have, to see whether somebody else added one.
 */
export async function findDiscount(
  client: ShopifyClient,
  store: ProviderStore,
  id: string,
  maxItems: number,
): Promise<DiscountNode | null> {
  const { discountNode } = await client.graph<{ discountNode: DiscountNode | null }>(store, findDocument, {
    id: toGid('DiscountAutomaticNode', id),
    itemsAtMost: maxItems,
  })
  return discountNode
}

const newestDocument = `query NewestDiscounts {
  discountNodes(first: 100, query: "method:automatic", sortKey: CREATED_AT, reverse: true) {
    nodes { id discount { __typename ... on DiscountAutomaticBxgy { title createdAt } } }
  }
}`

/** The newest discounts that we may have created since `since`. */
export async function listNewestDiscounts(
  client: ShopifyClient,
  store: ProviderStore,
  since: string,
): Promise<{ id: string; title: string }[]> {
  const { discountNodes } = await client.graph<{ discountNodes: { nodes: DiscountNode[] } }>(
    store,
    newestDocument,
  )
  return discountNodes.nodes.flatMap(({ id, discount: it }) => {
    // Tolerates 5 minutes of clock skew.
    const isNew = Date.parse(it.createdAt ?? '') >= Date.parse(since) - 5 * minuteMs
    return it.__typename === 'DiscountAutomaticBxgy' && isNew ? [{ id: plainId(id), title: it.title! }] : []
  })
}

const createDocument = `mutation CreateDiscount($discount: DiscountAutomaticBxgyInput!) {
  made: discountAutomaticBxgyCreate(automaticBxgyDiscount: $discount) {
    automaticDiscountNode { id }
    userErrors { field code message }
  }
}`
const updateDocument = `mutation UpdateDiscount($id: ID!, $discount: DiscountAutomaticBxgyInput!) {
  made: discountAutomaticBxgyUpdate(id: $id, automaticBxgyDiscount: $discount) {
    automaticDiscountNode { id }
    userErrors { field code message }
  }
}`
const deleteDocument = `mutation DeleteDiscount($id: ID!) {
  made: discountAutomaticDelete(id: $id) { deletedAutomaticDiscountId userErrors { field code message } }
}`

interface Made {
  made: { automaticDiscountNode: { id: string } | null; userErrors: UserError[] }
}

/** Returns the id of the created discount. Throws `Refused` with Shopify's message. */
export async function createDiscount(
  client: ShopifyClient,
  store: ProviderStore,
  discount: Input,
): Promise<string> {
  const { made } = await client.graph<Made>(store, createDocument, { discount })
  requireNoErrors(made.userErrors)
  if (!made.automaticDiscountNode) throw new Unavailable('unknown', 'Shopify did not name the discount')
  return plainId(made.automaticDiscountNode.id)
}

export async function updateDiscount(
  client: ShopifyClient,
  store: ProviderStore,
  id: string,
  discount: Input,
): Promise<void> {
  const { made } = await client.graph<Made>(store, updateDocument, {
    id: toGid('DiscountAutomaticNode', id),
    discount,
  })
  requireNoErrors(made.userErrors)
}

/** Also succeeds if the discount is already deleted. */
export async function deleteDiscount(client: ShopifyClient, store: ProviderStore, id: string): Promise<void> {
  const { made } = await client.graph<Made>(store, deleteDocument, { id: toGid('DiscountAutomaticNode', id) })
  if (made.userErrors.length === 0) return
  if ((await findDiscount(client, store, id, 1)) !== null) requireNoErrors(made.userErrors)
}

const usageDocument = `query DiscountUsage($ids: [ID!]!) {
  shop { currencyCode }
  nodes(ids: $ids) {
    ... on DiscountAutomaticNode {
      id
      automaticDiscount { ... on DiscountAutomaticBxgy { asyncUsageCount } }
    }
  }
}`

interface Usage {
  shop: { currencyCode: string }
  nodes: ({ id: string; automaticDiscount: { asyncUsageCount?: number } } | null)[]
}

/** Use counts by id; deleted discounts are left out. */
export async function readUsage(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<{ currency: string; used: Map<string, number> }> {
  const { shop, nodes } = await client.graph<Usage>(store, usageDocument, {
    ids: ids.map((id) => toGid('DiscountAutomaticNode', id)),
  })
  const used = new Map(
    nodes.flatMap((node) => (node ? [[plainId(node.id), node.automaticDiscount.asyncUsageCount ?? 0]] : [])),
  )
  return { currency: shop.currencyCode, used }
}

const activeDocument = `query ActiveDiscounts($after: String) {
  discountNodes(first: 100, after: $after, query: "method:automatic AND status:active") {
    nodes { id }
    pageInfo { hasNextPage endCursor }
  }
}`

interface Active {
  discountNodes: {
    nodes: { id: string }[]
    pageInfo: { hasNextPage: boolean; endCursor: string | null }
  }
}

/** The ids of all active discounts, including the merchant's. */
export async function listActiveDiscounts(client: ShopifyClient, store: ProviderStore): Promise<string[]> {
  const ids: string[] = []
  const read = (after: string | null) => client.graph<Active>(store, activeDocument, { after })
  for await (const { discountNodes } of readPages(read, (page) =>
    getEndCursor(page.discountNodes.pageInfo),
  )) {
    ids.push(...discountNodes.nodes.map(({ id }) => plainId(id)))
  }
  return ids
}
