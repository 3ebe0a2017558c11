/** Merges and validates the content of a slider, on a product page or the home page, and checks its products and files. */
import { files } from '#operations/store/index'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import { omitUndefined } from '#runtime/values/changes'
import { type HomeSliderChange, homeVideoSlider, type SliderChange, type SliderContent } from './schema.ts'

/**
 * Merges a change. Fields left out keep their value; videos are replaced as a whole. Refuses settings with which
 * browsers would not play, such as autoplay with sound.
 */
export function mergeSlider<P extends string>(
  before: SliderContent<P>,
  change: SliderChange | HomeSliderChange,
): SliderContent<P> {
  const { title, videos, layout, placement, autoplay, muted, loop, showControls } = change
  const after: SliderContent<P> = {
    ...before,
    ...omitUndefined({ layout, autoplay, muted, loop, showControls }),
    title: title === undefined ? before.title : title || null,
    placement: (placement as P | undefined) ?? before.placement,
    videos: videos
      ? videos.map(({ videoUrl, posterUrl, title: name, linkedProductId }) => ({
          videoUrl,
          posterUrl: posterUrl ?? null,
          title: name || null,
          linkedProductId: linkedProductId ?? null,
        }))
      : before.videos,
  }
  if (after.autoplay && !after.muted) {
    throw refuse('bad_request', 'autoplay: needs muted, since browsers block videos that start with sound')
  }
  return after
}

/** Checks new references at the platform and the storage, so not inside a transaction. Errors name the field. */
export const checkSlider = (
  ctx: Context,
  before: SliderContent<string> | null,
  after: SliderContent<string>,
): Promise<void> =>
  requireReferences(ctx, homeVideoSlider, { before, after, kinds: ['product', 'file'], live: true })

/** Records the files that a slider uses, in the caller's transaction. The job `files-clean` deletes files without a use. */
export const retainSliderFiles = (
  ctx: Context,
  owner: string,
  before: SliderContent<string> | null,
  after: SliderContent<string> | null,
): Promise<void> => files.trackFiles(ctx, `video-slider:${owner}`, homeVideoSlider, { before, after })
