/** Settings of the bars: one row each, written over defaults, merged at every depth. */
import { isDeepStrictEqual } from 'node:util'
import { files } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { type Change, merged } from '#runtime/values/changes'

export type BarName = 'free-shipping' | 'countdown' | 'action'

export interface Saved<T> {
  content: T
  /** Null until it was first saved. */
  updatedAt: Date | null
}

const find = prepared<{ bar: string }, { content: unknown; updated_at: Date }>(
  (db, values) =>
    db.selectFrom('bar_settings').select(['content', 'updated_at']).where('bar', '=', values.bar),
  { planOnce: true },
)

/** The defaults while nothing was saved. */
export async function readBar<T extends object>(ctx: Context, bar: BarName, defaults: T): Promise<Saved<T>> {
  const [row] = await find(ctx, { bar })
  if (!row) return { content: defaults, updatedAt: null }
  return { content: merged(defaults, row.content as Change<T>), updatedAt: row.updated_at }
}

/**
 * In one transaction; two who save at once take turns. `change` answers the new whole, or refuses. The same again
 * changes nothing.
 */
export async function writeBar<T extends object>(
  ctx: Context,
  bar: BarName,
  defaults: T,
  change: (before: T) => T,
): Promise<void> {
  await ctx.transaction(async (tx) => {
    await tx.lockStore()
    const { content: before } = await readBar(tx, bar, defaults)
    const after = change(before)
    if (isDeepStrictEqual(before, after)) return
    const now = tx.now()
    const row = { content: JSON.stringify(after), updated_at: now }
    await tx.db
      .insertInto('bar_settings')
      .values({ bar, created_at: now, ...row })
      .onConflict((conflict) => conflict.columns(['store_id', 'bar']).doUpdateSet(row))
      .execute()
    await files.keepLinked(tx, `bar:${bar}`, after)
    await changed(tx)
  })
}
