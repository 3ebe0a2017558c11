import { assetUrl, itemStatus, platformId } from '#operations/storefront/index'
import { reference } from '#runtime/references'
import { count, id, instant, named, object, text, writeBody, z } from '#runtime/schema'

/** Id of the home page's slider in events and on the storefront. */
export const homeSliderId = 'home'

const videoFields = {
  videoUrl: assetUrl,
  posterUrl: assetUrl.nullable(),
  title: text(0, 80).nullable(),
  linkedProductId: reference('product', platformId).nullable(),
}
const video = object(videoFields)
const videoInput = writeBody(videoFields, [], ['videoUrl'])

const look = {
  title: text(0, 120).nullable(),
  layout: z.enum(['carousel', 'stories', 'floating']),
  autoplay: z.boolean().describe('Only with muted: browsers block it otherwise'),
  muted: z.boolean(),
  loop: z.boolean(),
  showControls: z.boolean(),
}
const productPlacement = z.enum(['gallery', 'below-gallery', 'below-description'])
const homePlacement = z.enum(['top', 'middle', 'bottom'])
const counters = { impressions: count, clicks: count }

export const videoSlider = named(
  'VideoSlider',
  object({
    id,
    productId: reference('product', platformId),
    productName: z.string().nullable(),
    productStatus: itemStatus,
    ...look,
    videos: z.array(video),
    isActive: z.boolean(),
    placement: productPlacement,
    ...counters,
    createdAt: instant,
    updatedAt: instant,
  }),
  { volatileFields: ['productName', 'productStatus', 'impressions', 'clicks'] },
)
export const sliderInput = writeBody(
  {
    productId: reference('product', platformId),
    ...look,
    videos: z.array(videoInput).min(1).max(20),
    isActive: z.boolean(),
    placement: productPlacement,
  },
  ['id', 'productName', 'productStatus', 'impressions', 'clicks', 'createdAt', 'updatedAt'],
  ['productId'],
)

export const homeVideoSlider = named(
  'HomeVideoSlider',
  object({
    ...look,
    videos: z.array(video),
    isEnabled: z.boolean(),
    placement: homePlacement,
    ...counters,
    updatedAt: instant.nullable().describe('Null: never saved'),
  }),
  { volatileFields: ['impressions', 'clicks'] },
)
export const homeSliderInput = writeBody(
  { ...look, videos: z.array(videoInput).max(20), isEnabled: z.boolean(), placement: homePlacement },
  ['impressions', 'clicks', 'updatedAt'],
)

export type SliderChange = Omit<z.infer<typeof sliderInput>, 'productId'>
export type HomeSliderChange = z.infer<typeof homeSliderInput>

/** Fields that both kinds of sliders store as `content`, in addition to their own `placement`. */
const played = object({ ...look, videos: z.array(video) })
export type SliderContent<Placement extends string> = z.infer<typeof played> & { placement: Placement }
export type ProductSlider = SliderContent<z.infer<typeof productPlacement>>
export type HomeSlider = SliderContent<z.infer<typeof homePlacement>>

const playDefaults = { autoplay: true, muted: true, loop: true, showControls: false }
export const defaultSlider: ProductSlider = {
  title: null,
  videos: [],
  layout: 'carousel',
  placement: 'below-gallery',
  ...playDefaults,
}
export const defaultHomeSlider: HomeSlider = { ...defaultSlider, placement: 'middle' }
