/** Computes the health of looks (rule 4) from the catalog cache, and notifies the merchant when a look becomes `broken`. */

import { sql } from 'kysely'
import { isAmong, notify } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { containsAny, healthSql } from './json.ts'

/** Checks the looks that contain these products, in the transaction that changed the products' snapshots. */
export const checkLooksWith = (ctx: Context, productIds: readonly string[]): Promise<void> =>
  check(ctx, { productIds })

/** Checks every look of the store after a full catalog read. */
export const checkAllLooks = (ctx: Context): Promise<void> => check(ctx, {})

/** Checks one look, in the caller's transaction. */
export const checkLook = (ctx: Context, id: string): Promise<void> => check(ctx, { id })

async function check(ctx: Context, which: { productIds?: readonly string[]; id?: string }): Promise<void> {
  let looks = ctx.db
    .selectFrom('looks as l')
    .select(['l.id', 'l.name', 'l.health as was', healthSql(ctx.db).as('health')])
  if (which.id !== undefined) looks = looks.where('l.id', '=', which.id)
  if (which.productIds) looks = looks.where(containsAny(sql`${[...which.productIds]}::text[]`))
  const rows = await looks.orderBy('l.id').forUpdate('l').execute()
  for (const [health, moved] of Map.groupBy(rows, (row) => row.health)) {
    const ids = moved.map((row) => row.id)
    await ctx.db
      .updateTable('looks')
      .set({ health, checked_at: ctx.now() })
      .where(isAmong('id', ids, 'uuid'))
      .execute()
  }
  for (const { id, name, was, health } of rows) {
    if (health === 'broken' && was !== 'broken') await notifyBroken(ctx, id, name)
  }
}

const notifyBroken = (ctx: Context, id: string, name: string): Promise<void> =>
  notify(ctx, {
    type: 'look-broken',
    level: 'warning',
    title: `The look ${name} is not shown any more`,
    message: 'Fewer than two of its items can be bought: replace some, or turn the look off.',
    link: '/shop-the-look',
    data: { id },
    dedupeKey: null,
  })
