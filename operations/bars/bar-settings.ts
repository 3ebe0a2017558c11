/** Settings of the bars: one row each, written over defaults, merged at every depth. */
import { isDeepStrictEqual } from 'node:util'
import { files } from '#operations/store/door'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'

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
  return { content: merged(defaults, row.content as Partial<T>), updatedAt: row.updated_at }
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

type Change<T> = {
  [K in keyof T]?:
    | (T[K] extends readonly unknown[] ? T[K] : T[K] extends object ? Change<T[K]> : T[K])
    | undefined
}

/** What is left out stays, at every depth of object; lists are replaced. */
export function merged<T extends object>(before: T, change: Change<T>): T {
  const whole = { ...before } as Record<string, unknown>
  for (const [key, value] of Object.entries(change)) {
    if (value === undefined) continue
    const there = whole[key]
    whole[key] = isPlain(there) && isPlain(value) ? merged(there, value) : value
  }
  return whole as T
}

const isPlain = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
