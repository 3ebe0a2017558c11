/** Builds the data of two storefront widgets: the alert form for sold-out variants, and the stock counter. */
import { snapshots, type Widget, type WidgetQuery } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { renderText } from '#runtime/values/variables'
import { type AlertContent, appearanceFields } from '../settings/schema.ts'
import { readAlertsForShoppers } from '../settings/settings.ts'
import type { CounterContent } from './schema.ts'
import { stockCounter } from './settings.ts'

const pickAppearance = (settings: AlertContent) =>
  Object.fromEntries(appearanceFields.map((name) => [name, settings[name]]))

/** Builds the widget `stockAlerts`: the form's appearance and texts, and the product's sold-out variants. */
export async function buildAlertsWidget(
  ctx: Context,
  { page, productId, cards }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await readAlertsForShoppers(ctx)
  const { allowEmails, allowPhones, buttonShowInProductPage, buttonShowInProductList } = settings
  const isProductPage = page === 'product' && productId !== null
  const isOnCards = buttonShowInProductList && (!isProductPage || cards.length > 0)
  const isOnPage = isProductPage && buttonShowInProductPage
  if (!isOpen(settings) || !(isOnPage || isOnCards)) return null
  const shared = { allowEmails, allowPhones, buttonShowInProductList, ...pickAppearance(settings) }
  if (!isProductPage)
    return { value: { ...shared, productId: null, soldOutVariantIds: null, soldOutVariants: null } }
  const soldOut = isOnPage ? listSoldOut((await snapshots.find(ctx, [productId])).get(productId)) : []
  const soldOutVariantIds = soldOut.map(({ variantId }) => variantId)
  return { value: { ...shared, productId, soldOutVariantIds, soldOutVariants: soldOut } }
}

const isOpen = ({ isEnabled, allowEmails, allowPhones }: AlertContent): boolean =>
  isEnabled && (allowEmails || allowPhones)

const listSoldOut = (product: snapshots.Snapshot | undefined): { variantId: string; name: string }[] => {
  const status = snapshots.getStatus(product)
  if (status !== 'available' && status !== 'out-of-stock') return []
  return product!.variants
    .filter(({ stock }) => stock === 0)
    .map(({ variantId, name }) => ({ variantId, name }))
}

/** Builds the alert data for the cards of sold-out products in a list, by product id. */
export async function buildAlertCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const settings = await readAlertsForShoppers(ctx)
  if (!isOpen(settings) || !settings.buttonShowInProductList) return new Map()
  const products = [...(await snapshots.find(ctx, productIds))]
  return new Map(
    products
      .filter(([, product]) => snapshots.getStatus(product) === 'out-of-stock')
      .map(([productId, product]) => [productId, { variants: listSoldOut(product) }]),
  )
}

/**
 * Builds the widget `stockCounter`: the appearance, and on a product page the variants with low stock and their
 * rendered texts.
 */
export async function buildCounterWidget(
  ctx: Context,
  { page, productId, cards }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await stockCounter.getForShoppers(ctx)
  const isProductPage = page === 'product' && productId !== null
  const { isEnabled, showInProductList } = settings
  if (!isEnabled || !(isProductPage || showInProductList)) return null
  const { threshold, showProgressBar, position, textColor, barColor, trackColor, fontSize } = settings
  const looks = { threshold, showProgressBar, position, textColor, barColor, trackColor, fontSize }
  const shared = { ...looks, showInProductList }
  if (!isProductPage) {
    const { text, lastUnitText, scope, productIds, categoryIds } = settings
    return { value: { ...shared, text, lastUnitText, scope, productIds, categoryIds, variants: null } }
  }
  const product = (await snapshots.find(ctx, [productId])).get(productId)
  if (!isInScope(settings, productId, product))
    return showInProductList && cards.length > 0 ? { value: { ...shared, variants: [] } } : null
  const low = product.variants.filter(({ stock }) => stock !== null && stock >= 1 && stock <= threshold)
  const variants = low.map(({ variantId, stock }) => {
    return { variantId, stock, text: renderCounterText(settings, stock!, product.name) }
  })
  return { value: { ...shared, variants } }
}

/**
 * Builds the counter data for product cards in a list, by product id. A card shows the total stock, because no variant
 * is chosen.
 */
export async function buildCounterCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const settings = await stockCounter.getForShoppers(ctx)
  if (!settings.isEnabled || !settings.showInProductList) return new Map()
  const products = [...(await snapshots.find(ctx, productIds))]
  return new Map(
    products.flatMap(([productId, product]) => {
      if (!isInScope(settings, productId, product)) return []
      // A null stock means that the platform does not track it: it is unlimited.
      if (product.variants.some(({ stock }) => stock === null)) return []
      const remaining = product.variants.reduce((sum, { stock }) => sum + Math.max(0, stock!), 0)
      if (remaining < 1 || remaining > settings.threshold) return []
      return [[productId, { stock: remaining, text: renderCounterText(settings, remaining, product.name) }]]
    }),
  )
}

const isInScope = (
  { scope, productIds, categoryIds }: CounterContent,
  productId: string,
  product: snapshots.Snapshot | undefined,
): product is snapshots.Snapshot =>
  product?.exists === true &&
  (scope === 'all' ||
    (scope === 'products' && productIds.includes(productId)) ||
    (scope === 'categories' && product.categoryIds.some((id) => categoryIds.includes(id))))

function renderCounterText(
  { text, lastUnitText }: CounterContent,
  stock: number,
  productName: string,
): string {
  const chosen = stock === 1 ? (lastUnitText ?? text) : text
  return renderText(chosen, { stock: String(stock), productName }).text
}
