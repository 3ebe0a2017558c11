/** All-time counters of what shoppers saw, clicked and put into the cart of looks. */
import { sql } from 'kysely'
import { isAmong, recordset } from '#operations/store/door'
import type { Counted } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'

/** Of these ids, those of looks. */
export async function existingLooks(ctx: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await ctx.db
    .selectFrom('looks')
    .select('id')
    .where(isAmong('id', ids.filter(isId), 'uuid'))
    .execute()
  return new Set(rows.map((row) => row.id))
}

const types = { id: 'uuid', impressions: 'integer', clicks: 'integer', cart_adds: 'integer' }

/** In the caller's transaction; locks in the order given. */
export async function countLookEvents(ctx: Context, counted: readonly Counted[]): Promise<void> {
  if (counted.length === 0) return
  const ids = counted.map(({ resourceId }) => resourceId)
  await ctx.db
    .selectFrom('looks')
    .select('id')
    .where(isAmong('id', ids, 'uuid'))
    .orderBy('id')
    .forUpdate()
    .execute()
  const rows = counted.map(({ resourceId: id, impressions, clicks, cartAdds }) => ({
    ...{ id, impressions, clicks, cart_adds: cartAdds },
  }))
  await ctx.db
    .updateTable('looks as l')
    .from(recordset(types, rows))
    .set({
      impressions: sql<number>`l.impressions + r.impressions`,
      clicks: sql<number>`l.clicks + r.clicks`,
      cart_adds: sql<number>`l.cart_adds + r.cart_adds`,
    })
    .whereRef('l.id', '=', sql`r.id`)
    .execute()
}
