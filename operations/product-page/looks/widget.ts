/** The looks widget: the looks with a page's product, or the sections of the home page. */
import { sql } from 'kysely'
import type { Widget, WidgetQuery } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { containsAny, publicLookJson } from './json.ts'
import { lookWidget } from './settings.ts'

interface Row {
  id: string
  shown: object
}

const prepareShownLooks = (ofProduct: boolean) =>
  prepared<{ ids: readonly string[]; productId: string | null; hides: boolean }, Row>((db, values) => {
    const rows = db
      .selectFrom('looks as l')
      .select(['l.id', sql<object>`${publicLookJson(db, values.hides)}`.as('shown')])
      .where('l.is_active', '=', true)
      .where('l.health', '<>', 'broken')
      .orderBy('l.id', 'desc')
    if (!ofProduct) return rows.where(sql<boolean>`l.id = any(${values.ids}::uuid[])`)
    return rows
      .where(sql<boolean>`(l.content -> 'showOnProductPages')::boolean`)
      .where(containsAny(sql`array[${values.productId}::text]`))
  })
const ofProduct = prepareShownLooks(true)
const ofIds = prepareShownLooks(false)

export async function buildLooksWidget(
  ctx: Context,
  { page, productId }: WidgetQuery,
): Promise<Widget | null> {
  const { homeSections, ...settings } = await lookWidget.getForShoppers(ctx)
  if (!settings.isEnabled) return null
  const hides = settings.unavailableItems === 'hide'
  if (productId !== null) {
    const rows = await ofProduct(ctx, { ids: [], productId, hides })
    return rows.length === 0 ? null : { value: { settings, items: rows.map(({ shown }) => shown) } }
  }
  if (page !== 'home') return null
  const enabled = homeSections.filter((section) => section.isEnabled)
  const ids = [...new Set(enabled.flatMap(({ lookIds }) => lookIds))]
  const rows = ids.length === 0 ? [] : await ofIds(ctx, { ids, productId: null, hides })
  const shown = new Map(rows.map((row) => [row.id, row.shown]))
  const sections = enabled
    .map(({ key, title, subtitle, layout, lookIds }) => ({
      ...{ key, title, subtitle, layout },
      items: lookIds.map((id) => shown.get(id)).filter((each) => each !== undefined),
    }))
    .filter(({ items }) => items.length > 0)
  return sections.length === 0 ? null : { value: { settings, sections } }
}
