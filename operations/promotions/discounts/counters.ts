/** All-time counters of what shoppers saw of discounts, and put into the cart. */
import { sql } from 'kysely'
import { isAmong, recordset } from '#operations/store/door'
import type { Counted } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import type { KindName } from './draft.ts'

/** Of these ids, those of discounts of the kind. */
export const existingOf =
  (kind: KindName) =>
  async (ctx: Context, ids: readonly string[]): Promise<ReadonlySet<string>> => {
    const rows = await ctx.db
      .selectFrom('discounts')
      .select('id')
      .where('kind', '=', kind)
      .where(isAmong('id', ids.filter(isId), 'uuid'))
      .execute()
    return new Set(rows.map((row) => row.id))
  }

const types = { id: 'uuid', impressions: 'integer', clicks: 'integer', cart_adds: 'integer' }

/** In the caller's transaction; locks in the order given. */
export async function countDiscountEvents(ctx: Context, counted: readonly Counted[]): Promise<void> {
  const ids = counted.map(({ resourceId }) => resourceId)
  await ctx.db
    .selectFrom('discounts')
    .select('id')
    .where(isAmong('id', ids, 'uuid'))
    .orderBy('id')
    .forUpdate()
    .execute()
  const rows = counted.map(({ resourceId, impressions, clicks, cartAdds }) => ({
    id: resourceId,
    impressions,
    clicks,
    cart_adds: cartAdds,
  }))
  await ctx.db
    .updateTable('discounts as d')
    .from(recordset(types, rows))
    .set({
      impressions: sql<number>`d.impressions + r.impressions`,
      clicks: sql<number>`d.clicks + r.clicks`,
      cart_adds: sql<number>`d.cart_adds + r.cart_adds`,
    })
    .whereRef('d.id', '=', sql`r.id`)
    .execute()
}
