/**
 * Notifies the merchant each time a bundle becomes unavailable, because an item can no longer be bought or because the
 * bundle saves nothing any more.
 */
import { type RawBuilder, sql } from 'kysely'
import { notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { isLiveSql } from '../discounts/rows.ts'
import { bundleAvailability, bundleSavesNothing } from './json.ts'

/** Checks the bundles that contain these products, in the transaction that changed the products' snapshots. */
export const notifyUnavailable = (ctx: Context, productIds: readonly string[]): Promise<void> =>
  refresh(
    ctx,
    sql<boolean>`exists (select from jsonb_array_elements(d.content -> 'items') as i(item)
      where i.item ->> 'productId' = any(${[...productIds]}::text[]))`,
    true,
  )

/** Records availability after a merchant's write, whose answer shows it. Notifies only of a bundle that saves nothing. */
export const recordAvailability = (ctx: Context, id: string): Promise<void> =>
  refresh(ctx, sql<boolean>`d.id = ${id}::uuid`, false)

async function refresh(ctx: Context, which: RawBuilder<boolean>, tellsOfItems: boolean): Promise<void> {
  const rows = await ctx.db
    .selectFrom('discounts as d')
    .select([
      'd.id',
      'd.name',
      isLiveSql(ctx.now()).as('isLive'),
      sql<boolean>`${bundleAvailability(ctx.db)} = 'unavailable'`.as('isUnavailable'),
      bundleSavesNothing(ctx.db).as('savesNothing'),
      'd.is_unavailable as wasUnavailable',
    ])
    .where('d.kind', '=', 'bundle')
    .where(which)
    .orderBy('d.id')
    .forUpdate('d')
    .execute()
  for (const { id, name, isLive, isUnavailable, savesNothing, wasUnavailable } of rows) {
    if (isUnavailable === wasUnavailable) continue
    await ctx.db
      .updateTable('discounts')
      .set({ is_unavailable: isUnavailable })
      .where('id', '=', id)
      .execute()
    if (!isUnavailable || !isLive || !(tellsOfItems || savesNothing)) continue
    await notify(ctx, {
      type: 'bundle-unavailable',
      level: 'warning',
      title: savesNothing
        ? `The bundle ${name} saves nothing`
        : `The bundle ${name} cannot be bought any more`,
      message: savesNothing
        ? 'Its products cost no more apart, so it is neither shown nor applied: change its discount, or pause it.'
        : 'One of its products is unpublished or gone: replace it, or pause the bundle.',
      link: '/bundles',
      data: { id },
      dedupeKey: null,
    })
  }
}
