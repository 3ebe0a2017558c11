/** The wishlist widget: its settings, and the number of wishes for a product. */
import { sql } from 'kysely'
import { isAmong } from '#operations/store/index'
import type { Widget, WidgetQuery } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { wishlist } from './settings.ts'

export async function buildWishlistWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  const { isEnabled, ...settings } = await wishlist.getForShoppers(ctx)
  if (!isEnabled) return null
  if (!settings.showCount || productId === null) return { value: { settings } }
  return { value: { settings, count: (await countWishes(ctx, [productId])).get(productId) ?? 0 } }
}

/** Number of wishes for each product of a list, if the settings show it. */
export async function buildWishlistCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const { isEnabled, showCount } = await wishlist.getForShoppers(ctx)
  if (!isEnabled || !showCount) return new Map()
  const counts = await countWishes(ctx, productIds)
  return new Map(productIds.map((id) => [id, { count: counts.get(id) ?? 0 }]))
}

/** For each product, the number of shoppers who have it in their list now. */
async function countWishes(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await ctx.db
    .selectFrom('wishes')
    .select(['product_id', sql<number>`count(distinct visitor_id)::int`.as('count')])
    .where(isAmong('product_id', productIds))
    .where('removed_at', 'is', null)
    .groupBy('product_id')
    .execute()
  return new Map(rows.map((row) => [row.product_id, row.count]))
}
