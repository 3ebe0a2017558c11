/** Bundles of which an item can no longer be bought: the merchant is told once for each time that it becomes so. */
import { sql } from 'kysely'
import { notify } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { liveIn } from '../discounts/rows.ts'
import { bundleAvailability } from './json.ts'

/** Of bundles with these products, in the transaction that changed their snapshots. */
export async function noticeUnavailable(ctx: Context, productIds: readonly string[]): Promise<void> {
  const rows = await ctx.db
    .selectFrom('discounts as d')
    .select([
      'd.id',
      'd.name',
      liveIn(ctx.now()).as('is_live'),
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

/** After a write of the merchant's own, who sees it in the answer. */
export async function noteAvailability(ctx: Context, id: string): Promise<void> {
  await ctx.db
    .updateTable('discounts as d')
    .set({ is_unavailable: sql<boolean>`${bundleAvailability(ctx.db)} = 'unavailable'` })
    .where('d.id', '=', id)
    .where('d.kind', '=', 'bundle')
    .execute()
}
