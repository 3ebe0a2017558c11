/** The wishlist as the storefront gets it: its settings, and how many wish for a product. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/door'
import type { Widget, WidgetQuery } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { wishlist } from './settings.ts'

export async function wishlistWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  const { isEnabled, ...settings } = await wishlist.forShoppers(ctx)
  if (!isEnabled) return null
  if (!settings.showCount || productId === null) return { value: { settings } }
  return { value: { settings, count: (await countsOf(ctx, [productId])).get(productId) ?? 0 } }
}

/** How many have each product of a list, where that is shown. */
export async function wishlistCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const { isEnabled, showCount } = await wishlist.forShoppers(ctx)
  if (!isEnabled || !showCount) return new Map()
  const counts = await countsOf(ctx, productIds)
  return new Map(productIds.map((id) => [id, { count: counts.get(id) ?? 0 }]))
}

/** How many shoppers have each in their list now. */
async function countsOf(ctx: Context, productIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const rows = await ctx.db
    .selectFrom('wishes')
    .select(['product_id', sql<number>`count(distinct visitor_id)::int`.as('count')])
    .where(isAmong('product_id', productIds))
    .where('removed_at', 'is', null)
    .groupBy('product_id')
    .execute()
  return new Map(rows.map((row) => [row.product_id, row.count]))
}
