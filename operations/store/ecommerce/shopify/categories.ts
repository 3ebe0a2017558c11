/**
 * Lists Shopify's collections as categories, in tree order, sorted by name. The parent of a collection is the first one that
 * has it as a sub-collection; a parent also counts the products of its sub-collections.
 */

import { getEndCursor, readPages } from '#runtime/ports/pagination'
import type { ProviderStore } from '#runtime/ports/provider'
import type { Category } from '../port.ts'
import { type CollectionsQuery, collectionsDocument } from './documents/documents.ts'
import type { ShopifyClient } from './http/client.ts'
import { plainId } from './http/ids.ts'

type Collection = CollectionsQuery['collections']['nodes'][number]

export async function listCategories(client: ShopifyClient, store: ProviderStore): Promise<Category[]> {
  const collections: Collection[] = []
  let host = ''
  const read = (after: string | null) => client.graph(store, collectionsDocument, { after })
  for await (const page of readPages(read, (each) => getEndCursor(each.collections.pageInfo))) {
    collections.push(...page.collections.nodes)
    host = page.shop.primaryDomain.host
  }
  return toCategories(collections, host)
}

function toCategories(collections: readonly Collection[], host: string): Category[] {
  const parents = findParents(collections)
  const children = Map.groupBy(collections, ({ id }) => parents.get(id) ?? null)
  const categories: Category[] = []
  const add = (parent: Category | null, gid: string | null): void => {
    for (const { id, title, handle, productsCount } of children.get(gid) ?? []) {
      const category: Category = {
        id: plainId(id),
        name: title,
        parentId: parent?.id ?? null,
        path: parent ? `${parent.path} > ${title}` : title,
        handle,
        url: `https://${host}/collections/${handle}`,
        productCount: productsCount?.count ?? 0,
        position: categories.length + 1,
      }
      categories.push(category)
      add(category, id)
    }
  }
  add(null, null)
  return categories
}

/** The parent of each sub-collection. A collection that would become its own ancestor gets no parent. */
function findParents(collections: readonly Collection[]): Map<string, string> {
  const known = new Set(collections.map(({ id }) => id))
  const parents = new Map<string, string>()
  const isAncestor = (id: string, of: string): boolean => {
    for (let at: string | undefined = of; at !== undefined; at = parents.get(at)) if (at === id) return true
    return false
  }
  for (const { id: parent, sources } of collections) {
    for (const source of sources) {
      for (const { id } of 'collections' in source ? source.collections : []) {
        if (known.has(id) && !parents.has(id) && !isAncestor(id, parent)) parents.set(id, parent)
      }
    }
  }
  return parents
}
