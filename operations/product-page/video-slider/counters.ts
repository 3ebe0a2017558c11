/** Counts all-time impressions and clicks of sliders. The home page's slider has a fixed name instead of an id. */
import { sql } from 'kysely'
import type { EventSpec } from '#operations/storefront/index'
import { countedRows } from '#operations/storefront/index'
import { homeSliderId } from './schema.ts'

const ofProducts = countedRows('video_sliders', ['impressions', 'clicks'])

export const countedSliders: Pick<EventSpec, 'existing' | 'count'> = {
  async existing(ctx, ids) {
    const existing = new Set(await ofProducts.existing(ctx, ids))
    if (ids.includes(homeSliderId)) {
      const saved = await ctx.db.selectFrom('home_video_sliders').select('updated_at').execute()
      if (saved.length > 0) existing.add(homeSliderId)
    }
    return existing
  },
  async count(ctx, counted) {
    await ofProducts.count(
      ctx,
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
  },
}
