/** Settings of widgets: one object for each kind and store, the defaults until somebody saves them. */
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { changed } from '../widgets/changed.ts'

interface Row {
  content: object
  updated_at: Date
}

const byKey = prepared<{ key: string }, Row>((db, values) =>
  db
    .selectFrom('widget_settings')
    .select([sql<object>`content`.as('content'), 'updated_at'])
    .where('key', '=', values.key),
)

/** What was saved under `key` over the defaults; `updatedAt` null where nothing was. */
export async function readSettings<T extends object>(
  ctx: Context,
  key: string,
  defaults: T,
): Promise<T & { updatedAt: string | null }> {
  const [row] = await byKey(ctx, { key })
  return { ...defaults, ...(row?.content as T | undefined), updatedAt: row?.updated_at.toISOString() ?? null }
}

/**
 * Saves what `merge` makes of the settings, in the caller's transaction; two at once take turns. What is the same
 * afterwards changes nothing; what is not is published.
 */
export async function saveSettings<T extends object>(
  ctx: Context,
  key: string,
  defaults: T,
  merge: (before: T) => T | Promise<T>,
): Promise<T & { updatedAt: string | null }> {
  await ctx.lockStore()
  const { updatedAt, ...before } = await readSettings(ctx, key, defaults)
  const after = await merge(before as unknown as T)
  if (isDeepStrictEqual(before, { ...after })) return { ...after, updatedAt }
  const now = ctx.now()
  const saved = { content: JSON.stringify(after), updated_at: now }
  await ctx.db
    .insertInto('widget_settings')
    .values({ key, ...saved })
    .onConflict((conflict) => conflict.columns(['store_id', 'key']).doUpdateSet(saved))
    .execute()
  await files.keepLinked(ctx, `widget:${key}`, after)
  await changed(ctx)
  return { ...after, updatedAt: now.toISOString() }
}
