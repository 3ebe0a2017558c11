/** What the storefront shows: the form on what is sold out, and how few are left. */
import { snapshots, type Widget, type WidgetQuery } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { renderText } from '#runtime/values/variables'
import { type AlertContent, looks } from '../settings/schema.ts'
import { alertsForShoppers } from '../settings/settings.ts'
import { stockCounter } from './settings.ts'

const looksOf = (settings: AlertContent) => Object.fromEntries(looks.map((name) => [name, settings[name]]))

/** Key `stockAlerts`: looks and texts of the form, and which variants of the product are sold out. */
export async function alertsWidget(
  ctx: Context,
  { page, productId, cards }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await alertsForShoppers(ctx)
  const { allowEmails, allowPhones, buttonShowInProductPage, buttonShowInProductList } = settings
  const isProductPage = page === 'product' && productId !== null
  const isOnCards = buttonShowInProductList && (!isProductPage || cards.length > 0)
  const isOnPage = isProductPage && buttonShowInProductPage
  if (!isOpen(settings) || !(isOnPage || isOnCards)) return null
  const shared = { allowEmails, allowPhones, buttonShowInProductList, ...looksOf(settings) }
  if (!isProductPage)
    return { value: { ...shared, productId: null, soldOutVariantIds: null, soldOutVariants: null } }
  const soldOut = isOnPage ? soldOutOf((await snapshots.find(ctx, [productId])).get(productId)) : []
  const soldOutVariantIds = soldOut.map(({ variantId }) => variantId)
  return { value: { ...shared, productId, soldOutVariantIds, soldOutVariants: soldOut } }
}

const isOpen = ({ isEnabled, allowEmails, allowPhones }: AlertContent): boolean =>
  isEnabled && (allowEmails || allowPhones)

const soldOutOf = (product: snapshots.Snapshot | undefined): { variantId: string; name: string }[] => {
  const status = snapshots.statusOf(product)
  if (status !== 'available' && status !== 'out-of-stock') return []
  return product!.variants
    .filter(({ stock }) => stock === 0)
    .map(({ variantId, name }) => ({ variantId, name }))
}

/** Of the cards of a list those that nothing is left of. */
export async function alertCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const settings = await alertsForShoppers(ctx)
  if (!isOpen(settings) || !settings.buttonShowInProductList) return new Map()
  const products = [...(await snapshots.find(ctx, productIds))]
  return new Map(
    products
      .filter(([, product]) => snapshots.statusOf(product) === 'out-of-stock')
      .map(([productId, product]) => [productId, { variants: soldOutOf(product) }]),
  )
}

/** Key `stockCounter`: of a product page the variants that few are left of, their texts rendered. */
export async function counterWidget(ctx: Context, { page, productId }: WidgetQuery): Promise<Widget | null> {
  const settings = await stockCounter.forShoppers(ctx)
  const isProductPage = page === 'product' && productId !== null
  if (!settings.isEnabled || !(isProductPage || settings.showInProductList)) return null
  const { threshold, showProgressBar, position, textColor, barColor, trackColor, fontSize } = settings
  const shared = { threshold, showProgressBar, position, textColor, barColor, trackColor, fontSize }
  if (!isProductPage) {
    const { text, lastUnitText, scope, productIds, categoryIds } = settings
    return { value: { ...shared, text, lastUnitText, scope, productIds, categoryIds, variants: null } }
  }
  const product = (await snapshots.find(ctx, [productId])).get(productId)
  const isMeant =
    product?.exists &&
    (settings.scope === 'all' ||
      (settings.scope === 'products' && settings.productIds.includes(productId)) ||
      (settings.scope === 'categories' &&
        product.categoryIds.some((id) => settings.categoryIds.includes(id))))
  if (!isMeant) return null
  const few = product.variants.filter(({ stock }) => stock !== null && stock >= 1 && stock <= threshold)
  const variants = few.map(({ variantId, stock }) => {
    const text = stock === 1 ? (settings.lastUnitText ?? settings.text) : settings.text
    const values = { stock: String(stock), productName: product.name }
    return { variantId, stock, text: renderText(text, values).text }
  })
  return { value: { ...shared, variants } }
}
