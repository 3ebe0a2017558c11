/** The video slider of the home page. A store has exactly one; it has default settings until it is saved. */
import { isDeepStrictEqual } from 'node:util'
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import type { z } from '#runtime/schema'
import { optimisticWrite } from '../optimistic-write.ts'
import { checkSlider, mergeSlider, retainSliderFiles } from './content.ts'
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

interface SavedHomeSlider {
  content: HomeSlider
  isEnabled: boolean
}

async function find(ctx: Context): Promise<SavedHomeSlider> {
  const [row] = await saved(ctx, {})
  return {
    content: (row?.content as HomeSlider | undefined) ?? defaultHomeSlider,
    isEnabled: row?.is_enabled ?? false,
  }
}

/**
 * Saves the slider; an unchanged slider is not written. Refuses an enabled slider without a video. Checks new products and
 * files at the platform and the storage, so not inside a transaction.
 */
export async function saveHomeSlider(
  ctx: Context,
  change: HomeSliderChange,
): Promise<z.input<typeof homeVideoSlider>> {
  await optimisticWrite(ctx, {
    read: find,
    async prepare(before): Promise<SavedHomeSlider> {
      const content = mergeSlider(before.content, change)
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
      await retainSliderFiles(tx, homeSliderId, before.content, after.content)
      await markStorefrontChanged(tx)
    },
  })
  return readHomeSlider(ctx)
}
