/** What both sliders keep: merged, whole, and what they name asked for. */
import { requireAssets } from '#operations/promotions/lib/door'
import { files } from '#operations/store/lib/door'
import { snapshots } from '#operations/storefront/lib/door'
import type { Context } from '#runtime/context'
import { refuse } from '#runtime/errors'
import { newlyNamed } from '#runtime/references'
import { given } from './given.ts'
import type { HomeSliderChange, SliderChange, SliderContent } from './slider-schema.ts'

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
export async function checkSlider(
  ctx: Context,
  before: SliderContent<string> | null,
  after: SliderContent<string>,
): Promise<void> {
  const linked = (slider: SliderContent<string> | null): string[] =>
    slider?.videos.flatMap(({ linkedProductId: id }) => (id === null ? [] : [id])) ?? []
  const added = newlyNamed(linked(before), linked(after))
  await snapshots.requireProducts(ctx, added, 'videos.linkedProductId', { live: true })
  const kept = new Set(before ? filesOf(before).map(({ url }) => url) : [])
  await requireAssets(
    ctx,
    filesOf(after).filter(({ url }) => !kept.has(url)),
  )
}

const filesOf = ({ videos }: SliderContent<string>): { url: string; field: string }[] =>
  videos.flatMap(({ videoUrl, posterUrl }, at) => [
    { url: videoUrl, field: `videos.${at}.videoUrl` },
    ...(posterUrl === null ? [] : [{ url: posterUrl, field: `videos.${at}.posterUrl` }]),
  ])

/** In the caller's transaction; files that nothing names any more go with `files-clean`. */
export const keepSliderFiles = (
  ctx: Context,
  owner: string,
  content: SliderContent<string> | null,
): Promise<void> =>
  files.setUses(
    ctx,
    `video-slider:${owner}`,
    (content ? filesOf(content) : []).map((use) => ({ ...use, purpose: null })),
  )
