/** Notifies the merchant each time a bundle becomes unavailable because an item can no longer be bought. */
import { sql } from 'kysely'
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isLiveSql } from '../discounts/rows.ts'
import { bundleAvailability } from './json.ts'

/** Checks the bundles that contain these products, in the transaction that changed the products' snapshots. */
export async function notifyUnavailable(ctx: Context, productIds: readonly string[]): Promise<void> {
  const rows = await ctx.db
    .selectFrom('discounts as d')
    .select([
      'd.id',
      'd.name',
      isLiveSql(ctx.now()).as('is_live'),
      sql<boolean>`${bundleAvailability(ctx.db)} = 'unavailable'`.as('is_unavailable'),
      'd.is_unavailable as was_unavailable',
    ])
    .where('d.kind', '=', 'bundle')
    .where(
      sql<boolean>`exists (select from jsonb_array_elements(d.content -> 'items') as i(item)
        where i.item ->> 'productId' = any(${[...productIds]}::text[]))`,
    )
    .orderBy('d.id')
    .forUpdate('d')
    .execute()
  for (const { id, name, is_live: isLive, is_unavailable: isUnavailable, was_unavailable: was } of rows) {
    if (isUnavailable === was) continue
    await ctx.db
      .updateTable('discounts')
      .set({ is_unavailable: isUnavailable })
      .where('id', '=', id)
      .execute()
    if (isUnavailable && isLive) {
      await notify(ctx, {
        type: 'bundle-unavailable',
        level: 'warning',
        title: `The bundle ${name} cannot be bought any more`,
        message: 'One of its products is unpublished or gone: replace it, or pause the bundle.',
        link: '/bundles',
        data: { id },
        dedupeKey: null,
      })
    }
  }
}

/** Records availability after a merchant's write. It does not notify, because the response shows the availability. */
export async function recordAvailability(ctx: Context, id: string): Promise<void> {
  await ctx.db
    .updateTable('discounts as d')
    .set({ is_unavailable: sql<boolean>`${bundleAvailability(ctx.db)} = 'unavailable'` })
    .where('d.id', '=', id)
    .where('d.kind', '=', 'bundle')
    .execute()
}
