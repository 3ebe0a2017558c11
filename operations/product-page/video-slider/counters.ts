/** All-time counters of what shoppers saw and clicked of blocks and sliders. */
import { sql } from 'kysely'
import { isAmong, recordset } from '#operations/store/door'
import type { Counted } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { isId } from '#runtime/values/ids'
import { homeSliderId } from './schema.ts'

type Table = 'content_blocks' | 'video_sliders'

async function existingIn(ctx: Context, table: Table, ids: readonly string[]): Promise<Set<string>> {
  const rows = await ctx.db
    .selectFrom(table)
    .select('id')
    .where(isAmong('id', ids.filter(isId), 'uuid'))
    .execute()
  return new Set(rows.map((row) => row.id))
}

const types = { resource: 'uuid', seen: 'integer', clicked: 'integer' }

/** In the caller's transaction; locks in the order given. */
async function countIn(ctx: Context, table: Table, counted: readonly Counted[]): Promise<void> {
  if (counted.length === 0) return
  const ids = counted.map(({ resourceId }) => resourceId)
  await ctx.db
    .selectFrom(table)
    .select('id')
    .where(isAmong('id', ids, 'uuid'))
    .orderBy('id')
    .forUpdate()
    .execute()
  const rows = counted.map(({ resourceId: resource, impressions: seen, clicks: clicked }) => ({
    ...{ resource, seen, clicked },
  }))
  await ctx.db
    .updateTable(table)
    .from(recordset(types, rows))
    .set({
      impressions: sql<number>`impressions + r.seen`,
      clicks: sql<number>`clicks + r.clicked`,
    })
    .where('id', '=', sql<string>`r.resource`)
    .execute()
}

/** Of these ids, those of content blocks. */
export const existingBlocks = (ctx: Context, ids: readonly string[]): Promise<ReadonlySet<string>> =>
  existingIn(ctx, 'content_blocks', ids)

export const countBlockEvents = (ctx: Context, counted: readonly Counted[]): Promise<void> =>
  countIn(ctx, 'content_blocks', counted)

/** Of these ids, those of sliders; the home page's has a name instead of an id. */
export async function existingSliders(ctx: Context, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const existing = await existingIn(ctx, 'video_sliders', ids)
  if (ids.includes(homeSliderId)) {
    const saved = await ctx.db.selectFrom('home_video_sliders').select('updated_at').execute()
    if (saved.length > 0) existing.add(homeSliderId)
  }
  return existing
}

export async function countSliderEvents(ctx: Context, counted: readonly Counted[]): Promise<void> {
  await countIn(
    ctx,
    'video_sliders',
    counted.filter(({ resourceId }) => resourceId !== homeSliderId),
  )
  const home = counted.find(({ resourceId }) => resourceId === homeSliderId)
  if (!home) return
  await ctx.db
    .updateTable('home_video_sliders')
    .set({
      impressions: sql`impressions + ${home.impressions}::int`,
      clicks: sql`clicks + ${home.clicks}::int`,
    })
    .execute()
}
