/** Publishes the demo's live discounts on the sandbox's platform. */
import { buildReference } from '#operations/promotions/discounts/kinds'
import { toSaved } from '#operations/promotions/discounts/rows'
import { getKind } from '#operations/promotions/platform/all-kinds'
import { putDiscount, recordUsage } from '#operations/store/ecommerce/sandbox-discounts'
import type { Context } from '#runtime/context'

export async function publishDiscounts(ctx: Context): Promise<void> {
  const shop = { db: ctx.system, clock: ctx.clock, storeId: ctx.store.id }
  const rows = await ctx.db.selectFrom('discounts').selectAll().orderBy('id').execute()
  for (const row of rows) {
    const saved = toSaved(row)
    const { kind, id, revision } = saved
    if (saved.syncStatus === 'synced')
      await putDiscount(shop, getKind(kind).spec(id, revision, saved, ctx.store.currency))
    if (row.usage_count === 0) continue
    const used = { orders: row.usage_count, total: row.discount_total, currency: row.currency }
    await recordUsage(shop, buildReference(kind, id), used)
  }
}
