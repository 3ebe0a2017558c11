/** What both sliders keep: merged, whole, and what they name asked for. */
import { files } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { requireReferences } from '#runtime/references'
import { given } from '#runtime/values/changes'
import { type HomeSliderChange, homeVideoSlider, type SliderChange, type SliderContent } from './schema.ts'

/** What is left out stays; videos are replaced whole. Refuses what browsers do not play. */
export function mergedSlider<P extends string>(
  before: SliderContent<P>,
  change: SliderChange | HomeSliderChange,
): SliderContent<P> {
  const { title, videos, layout, placement, autoplay, muted, loop, showControls } = change
  const after: SliderContent<P> = {
    ...before,
    ...given({ layout, autoplay, muted, loop, showControls }),
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

/** Asks platform and storage for what is new: not inside a transaction. Refuses it by its field. */
export const checkSlider = (
  ctx: Context,
  before: SliderContent<string> | null,
  after: SliderContent<string>,
): Promise<void> =>
  requireReferences(ctx, homeVideoSlider, { before, after, kinds: ['product', 'file'], live: true })

/** In the caller's transaction; files that nothing names any more go with `files-clean`. */
export const keepSliderFiles = (
  ctx: Context,
  owner: string,
  before: SliderContent<string> | null,
  after: SliderContent<string> | null,
): Promise<void> => files.keepNamed(ctx, `video-slider:${owner}`, homeVideoSlider, { before, after })
