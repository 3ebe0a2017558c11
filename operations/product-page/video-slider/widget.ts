/** Videos as the storefront gets them: the home page's, or a product's. */
import { shownProducts, type Widget, type WidgetQuery } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { readHomeSlider } from './home-slider.ts'
import { homeSliderId, type ProductSlider, type SliderContent } from './schema.ts'

const activeOf = prepared<{ productId: string }, { id: string; content: unknown }>((db, values) =>
  db
    .selectFrom('video_sliders')
    .select(['id', 'content'])
    .where('product_id', '=', values.productId)
    .where('is_active', '=', true),
)

export async function videoSliderWidget(
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
    return isEnabled ? { value: { id: homeSliderId, ...(await shown(ctx, slider)) } } : null
  }
  if (productId === null) return null
  const [row] = await activeOf(ctx, { productId })
  return row ? { value: { id: row.id, ...(await shown(ctx, row.content as ProductSlider)) } } : null
}

/** A video leads to its product while shoppers can see that. */
async function shown<P extends string>(ctx: Context, slider: SliderContent<P>): Promise<object> {
  const products = await shownProducts(
    ctx,
    slider.videos.flatMap(({ linkedProductId }) => linkedProductId ?? []),
  )
  const videos = slider.videos.map(({ linkedProductId, ...video }) => ({
    ...video,
    product: products.get(linkedProductId ?? '') ?? null,
  }))
  return { ...slider, videos }
}
