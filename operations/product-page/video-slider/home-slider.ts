/** The slider of videos on the home page: one a store, the defaults until it is saved. */
import { isDeepStrictEqual } from 'node:util'
import { changed } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { settledWrite } from '../settled-write.ts'
import { checkSlider, keepSliderFiles, mergedSlider } from './content.ts'
import {
  defaultHomeSlider,
  type HomeSlider,
  type HomeSliderChange,
  homeSliderId,
  type homeVideoSlider,
} from './schema.ts'

const saved = prepared<
  object,
  { content: unknown; is_enabled: boolean; impressions: number; clicks: number; updated_at: Date }
>((db) =>
  db
    .selectFrom('home_video_sliders')
    .select(['content', 'is_enabled', 'impressions', 'clicks', 'updated_at']),
)

export async function readHomeSlider(ctx: Context): Promise<z.input<typeof homeVideoSlider>> {
  const [row] = await saved(ctx, {})
  return {
    ...((row?.content as HomeSlider | undefined) ?? defaultHomeSlider),
    isEnabled: row?.is_enabled ?? false,
    impressions: row?.impressions ?? 0,
    clicks: row?.clicks ?? 0,
    updatedAt: row?.updated_at.toISOString() ?? null,
  }
}

interface Kept {
  content: HomeSlider
  isEnabled: boolean
}

async function find(ctx: Context): Promise<Kept> {
  const [row] = await saved(ctx, {})
  return {
    content: (row?.content as HomeSlider | undefined) ?? defaultHomeSlider,
    isEnabled: row?.is_enabled ?? false,
  }
}

/**
 * Not inside a transaction: products and files that are new are asked for. The same again changes nothing. Refuses one
 * that is on without a video.
 */
export async function saveHomeSlider(
  ctx: Context,
  change: HomeSliderChange,
): Promise<z.input<typeof homeVideoSlider>> {
  await settledWrite(ctx, {
    read: find,
    async prepare(before): Promise<Kept> {
      const content = mergedSlider(before.content, change)
      const isEnabled = change.isEnabled ?? before.isEnabled
      if (isEnabled && content.videos.length === 0) {
        throw refuse('bad_request', 'videos: must have at least one while isEnabled')
      }
      await checkSlider(ctx, before.content, content)
      return { content, isEnabled }
    },
    async write(tx, before, after) {
      if (isDeepStrictEqual(before, after)) return
      const row = {
        content: JSON.stringify(after.content),
        is_enabled: after.isEnabled,
        updated_at: tx.now(),
      }
      await tx.db
        .insertInto('home_video_sliders')
        .values(row)
        .onConflict((conflict) => conflict.column('store_id').doUpdateSet(row))
        .execute()
      await keepSliderFiles(tx, homeSliderId, before.content, after.content)
      await changed(tx)
    },
  })
  return readHomeSlider(ctx)
}
