/** What of the demo's discounts is live is on the sandbox's platform too. */
import { referenceOf } from '#operations/promotions/discounts/kinds'
import { savedOf } from '#operations/promotions/discounts/rows'
import { kindOf } from '#operations/promotions/platform/all-kinds'
import { putDiscount, recordUsage } from '#operations/store/ecommerce/sandbox-discounts'
import type { Context } from '#runtime/context'

export async function publishDiscounts(ctx: Context): Promise<void> {
  const shop = { db: ctx.system, clock: ctx.clock, storeId: ctx.store.id }
  const rows = await ctx.db.selectFrom('discounts').selectAll().orderBy('id').execute()
  for (const row of rows) {
    const saved = savedOf(row)
    const { kind, id, revision } = saved
    if (saved.syncStatus === 'synced') await putDiscount(shop, kindOf(kind).spec(id, revision, saved))
    if (row.usage_count === 0) continue
    const used = { orders: row.usage_count, total: row.discount_total, currency: row.currency }
    await recordUsage(shop, referenceOf(kind, id), used)
  }
}
