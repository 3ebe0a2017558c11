/** The size guide of a product, as the storefront gets it. */
import { snapshots, type Widget, type WidgetQuery } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { inWords } from '#runtime/values/wording'
import { guideOf } from './choice.ts'
import { guideWords, type SizeGuideContent } from './schema.ts'
import { switchedTables } from './units.ts'

export async function sizeGuideWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  if (productId === null) return null
  const known = (await snapshots.find(ctx, [productId])).get(productId)
  const [guide] = await guideOf(ctx, known ?? { productId, categoryIds: [] })
  if (!guide) return null
  const { unit, showUnitSwitch, tables, instructionsHtml, imageUrl, display, linkText } = inWords(
    guide.content as SizeGuideContent,
    guideWords,
    ctx.store.locale,
  )
  const switched =
    showUnitSwitch && unit !== 'none'
      ? { unit: unit === 'cm' ? 'in' : 'cm', tables: switchedTables(tables, unit) }
      : null
  return {
    value: {
      ...{ id: guide.id, name: guide.name, unit, tables, switched },
      ...{ instructionsHtml, imageUrl, display, linkText },
    },
  }
}
