/** Reads the categories of products from the platform. */
import { connections } from '#operations/store/index'
import type { Context } from '#runtime/context'
import type { AutomationRow } from '../types.ts'
import type { Categories, OrderSubject } from './subjects.ts'

const pageSize = 100

/**
 * Finds the categories of the subjects' products. Does not call the platform if no automation has a condition on
 * categories. Call it outside any transaction.
 */
export async function findCategories(
  ctx: Context,
  automations: readonly AutomationRow[],
  subjects: readonly Pick<OrderSubject, 'items'>[],
): Promise<Categories> {
  const found = new Map<string, string[]>()
  if (!automations.some(({ conditions }) => conditions.categoryIds.length > 0)) return found
  const platform = await connections.findEcommerce(ctx)
  if (!platform) return found
  const ids = [...new Set(subjects.flatMap(({ items }) => items.flatMap((item) => item.productId ?? [])))]
  for (let i = 0; i < ids.length; i += pageSize) {
    const products = await platform.port.getProducts(platform.store, { ids: ids.slice(i, i + pageSize) })
    for (const { id, categories } of products)
      found.set(
        id,
        categories.map((category) => category.id),
      )
  }
  return found
}
