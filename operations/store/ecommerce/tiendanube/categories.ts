/** Lists Tiendanube's categories in the order of their tree, and counts their products, which Tiendanube does not. */
import { Refused } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { foldText } from '#runtime/values/fold'
import type { Category } from '../port.ts'
import type { TiendanubeClient } from './http/client.ts'
import { type Localized, pickText } from './http/values.ts'
import type { ShopFacts } from './shop.ts'

interface ApiCategory {
  id: number
  name: Localized
  handle: Localized
  /** Null or 0: it has none. */
  parent: number | null
}

/** Products are counted in shops with at most so many: 25 calls, which fit the rate limit at once. */
const maxCounted = 5000

export async function listCategories(
  client: TiendanubeClient,
  store: ProviderStore,
  shop: ShopFacts,
): Promise<Category[]> {
  const all = await client.listAll<ApiCategory>(store, {
    path: 'categories',
    query: { fields: 'id,name,handle,parent' },
  })
  const counts = all.length === 0 ? new Map<number, number>() : await countProducts(client, store)
  const ids = new Set(all.map(({ id }) => id))
  const children = Map.groupBy(all, ({ parent }) => (parent && ids.has(parent) ? parent : 0))
  const listed: Category[] = []
  const listBelow = (parent: number, above: Category | null): void => {
    for (const [at, child] of sortByName(children.get(parent) ?? [], shop.language).entries()) {
      const name = pickText(child.name, shop.language)
      const handle = pickText(child.handle, shop.language)
      const category: Category = {
        id: String(child.id),
        name,
        parentId: above?.id ?? null,
        path: above ? `${above.path} > ${name}` : name,
        handle,
        url: `${above ? above.url : `https://${shop.domain}`}/${handle}`,
        productCount: counts.get(child.id) ?? 0,
        position: at + 1,
      }
      listed.push(category)
      listBelow(child.id, category)
    }
  }
  listBelow(0, null)
  return listed
}

const sortByName = (categories: readonly ApiCategory[], language: string): ApiCategory[] => {
  const toKey = ({ name }: ApiCategory): string => foldText(pickText(name, language))
  return [...categories].sort((a, b) => (toKey(a) < toKey(b) ? -1 : 1))
}

/** How many products each category has, without its subcategories; empty if the shop has too many products to count. */
async function countProducts(client: TiendanubeClient, store: ProviderStore): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  const request = { path: 'products', query: { fields: 'id,categories' } }
  const products = await client
    .listAll<{ categories: { id: number }[] }>(store, request, maxCounted)
    .catch((error: unknown) => {
      if (error instanceof Refused && error.code === 'too-many') return []
      throw error
    })
  for (const { categories } of products) {
    for (const { id } of categories) counts.set(id, (counts.get(id) ?? 0) + 1)
  }
  return counts
}
