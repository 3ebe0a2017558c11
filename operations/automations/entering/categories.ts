/** In which categories products are: the platform says so, where a condition asks. */
import { connections } from '#operations/store/door'
import type { Context } from '#runtime/context'
import type { AutomationRow } from '../types.ts'
import type { Categories, OrderSubject } from './subjects.ts'

const atOnce = 100

/** Asked outside any transaction, and not at all where no automation has a condition on categories. */
export async function categoriesFor(
  ctx: Context,
  automations: readonly AutomationRow[],
  subjects: readonly Pick<OrderSubject, 'items'>[],
): Promise<Categories> {
  const found = new Map<string, string[]>()
  if (!automations.some(({ conditions }) => conditions.categoryIds.length > 0)) return found
  const platform = await connections.ecommerce(ctx)
  if (!platform) return found
  const ids = [...new Set(subjects.flatMap(({ items }) => items.flatMap((item) => item.productId ?? [])))]
  for (let i = 0; i < ids.length; i += atOnce) {
    const products = await platform.port.getProducts(platform.store, { ids: ids.slice(i, i + atOnce) })
    for (const { id, categories } of products)
      found.set(
        id,
        categories.map((category) => category.id),
      )
  }
  return found
}
