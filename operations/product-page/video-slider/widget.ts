/** The video slider widget: the slider of the home page or of a product. */
import { findShownProducts, type Widget, type WidgetQuery } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { readHomeSlider } from './home-slider.ts'
import { homeSliderId, type ProductSlider, type SliderContent } from './schema.ts'

const activeSlider = prepared<{ productId: string }, { id: string; content: unknown }>((db, values) =>
  db
    .selectFrom('video_sliders')
    .select(['id', 'content'])
    .where('product_id', '=', values.productId)
    .where('is_active', '=', true),
)

export async function buildVideoSliderWidget(
  ctx: Context,
  { page, productId }: WidgetQuery,
): Promise<Widget | null> {
  if (page === 'home') {
    const {
      isEnabled,
      impressions: _seen,
      clicks: _clicked,
      updatedAt: _saved,
      ...slider
    } = await readHomeSlider(ctx)
    return isEnabled ? { value: { id: homeSliderId, ...(await toShownSlider(ctx, slider)) } } : null
  }
  if (productId === null) return null
  const [row] = await activeSlider(ctx, { productId })
  return row ? { value: { id: row.id, ...(await toShownSlider(ctx, row.content as ProductSlider)) } } : null
}

/** The slider as shoppers see it. A video links to its product only if shoppers can see the product. */
async function toShownSlider<P extends string>(ctx: Context, slider: SliderContent<P>): Promise<object> {
  const products = await findShownProducts(
    ctx,
    slider.videos.flatMap(({ linkedProductId }) => linkedProductId ?? []),
  )
  const videos = slider.videos.map(({ linkedProductId, ...video }) => ({
    ...video,
    product: products.get(linkedProductId ?? '') ?? null,
  }))
  return { ...slider, videos }
}
