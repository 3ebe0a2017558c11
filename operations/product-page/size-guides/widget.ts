/** The size guide widget of a product. */
import { snapshots, type Widget, type WidgetQuery } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { translateBuiltIn } from '#runtime/values/wording'
import { findGuide } from './choice.ts'
import { findMeasureColumns } from './measures.ts'
import { guideWords, type SizeGuideContent } from './schema.ts'
import { convertTables } from './units.ts'

export async function buildSizeGuideWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  if (productId === null) return null
  const known = (await snapshots.find(ctx, [productId])).get(productId)
  const [guide] = await findGuide(ctx, known ?? { productId, categoryIds: [] })
  if (!guide) return null
  const { unit, showUnitSwitch, tables, instructionsHtml, imageUrl, display, linkText } = translateBuiltIn(
    guide.content as SizeGuideContent,
    guideWords,
    ctx.store.locale,
  )
  const switched =
    showUnitSwitch && unit !== 'none'
      ? { unit: unit === 'cm' ? 'in' : 'cm', tables: convertTables(tables, unit) }
      : null
  // The shop's page asks a shopper for the measurements of these columns.
  const measures = tables.map((table) =>
    unit === 'none'
      ? []
      : findMeasureColumns(table, unit).flatMap((kind, at) => (kind === 'size' ? [] : [at])),
  )
  return {
    value: {
      ...{ id: guide.id, name: guide.name, unit, tables, switched, measures },
      ...{ instructionsHtml, imageUrl, display, linkText },
    },
  }
}
