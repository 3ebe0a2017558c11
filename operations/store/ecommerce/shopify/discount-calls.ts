/** GraphQL calls for Shopify's automatic discounts. */

import { minuteMs } from '#runtime/durations'
import { Unavailable } from '#runtime/ports/errors'
import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { DiscountNode } from './discount-map.ts'
import {
  activeDiscountsDocument,
  createDiscountDocument,
  type DiscountAutomaticBxgyInput,
  deleteDiscountDocument,
  discountDocument,
  discountUsageDocument,
  newestDiscountsDocument,
  updateDiscountDocument,
} from './documents/documents.ts'
import { requireNoErrors } from './http/answers.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId, toGid } from './http/ids.ts'

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
  const { discountNode } = await client.graph(store, discountDocument, {
    id: toGid('DiscountAutomaticNode', id),
    itemsAtMost: maxItems,
  })
  return discountNode
}

/** The newest discounts that we may have created since `since`. */
export async function listNewestDiscounts(
  client: ShopifyClient,
  store: ProviderStore,
  since: string,
): Promise<{ id: string; title: string }[]> {
  const { discountNodes } = await client.graph(store, newestDiscountsDocument)
  return discountNodes.nodes.flatMap(({ id, discount: it }) => {
    if (it.__typename !== 'DiscountAutomaticBxgy') return []
    // Tolerates 5 minutes of clock skew.
    const isNew = Date.parse(it.createdAt) >= Date.parse(since) - 5 * minuteMs
    return isNew ? [{ id: plainId(id), title: it.title }] : []
  })
}

/** Returns the id of the created discount. Throws `Refused` with Shopify's message. */
export async function createDiscount(
  client: ShopifyClient,
  store: ProviderStore,
  discount: DiscountAutomaticBxgyInput,
): Promise<string> {
  const { made } = await client.graph(store, createDiscountDocument, { discount })
  requireNoErrors(made?.userErrors ?? [])
  if (!made?.automaticDiscountNode) throw new Unavailable('unknown', 'Shopify did not name the discount')
  return plainId(made.automaticDiscountNode.id)
}

export async function updateDiscount(
  client: ShopifyClient,
  store: ProviderStore,
  id: string,
  discount: DiscountAutomaticBxgyInput,
): Promise<void> {
  const gid = toGid('DiscountAutomaticNode', id)
  const { made } = await client.graph(store, updateDiscountDocument, { id: gid, discount })
  requireNoErrors(made?.userErrors ?? [])
}

/** Also succeeds if the discount is already deleted. */
export async function deleteDiscount(client: ShopifyClient, store: ProviderStore, id: string): Promise<void> {
  const gid = toGid('DiscountAutomaticNode', id)
  const { made } = await client.graph(store, deleteDiscountDocument, { id: gid })
  const errors = made?.userErrors ?? []
  if (errors.length > 0 && (await findDiscount(client, store, id, 1)) !== null) requireNoErrors(errors)
}

/** Use counts by id; deleted discounts are left out. */
export async function readUsage(
  client: ShopifyClient,
  store: ProviderStore,
  ids: readonly string[],
): Promise<{ currency: string; used: Map<string, number> }> {
  const { shop, nodes } = await client.graph(store, discountUsageDocument, {
    ids: ids.map((id) => toGid('DiscountAutomaticNode', id)),
  })
  const used = new Map(
    nodes.flatMap((node) => {
      if (!node || !('automaticDiscount' in node)) return []
      const { automaticDiscount: it } = node
      return [[plainId(node.id), 'asyncUsageCount' in it ? it.asyncUsageCount : 0]]
    }),
  )
  return { currency: shop.currencyCode, used }
}

/** The ids of all active discounts, including the merchant's. */
export async function listActiveDiscounts(client: ShopifyClient, store: ProviderStore): Promise<string[]> {
  const ids: string[] = []
  const read = (after: string | null) => client.graph(store, activeDiscountsDocument, { after })
  for await (const { discountNodes } of readPages(read, (page) =>
    getEndCursor(page.discountNodes.pageInfo),
  )) {
    ids.push(...discountNodes.nodes.map(({ id }) => plainId(id)))
  }
  return ids
}
