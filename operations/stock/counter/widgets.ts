/** What the storefront shows: the form on what is sold out, and how few are left. */
import { snapshots, type Widget, type WidgetQuery } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { renderText } from '#runtime/values/variables'
import { type AlertContent, looks } from '../settings/schema.ts'
import { alertsForShoppers } from '../settings/settings.ts'
import type { CounterContent } from './schema.ts'
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
export async function counterWidget(
  ctx: Context,
  { page, productId, cards }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await stockCounter.forShoppers(ctx)
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
  if (!isMeant(settings, productId, product))
    return showInProductList && cards.length > 0 ? { value: { ...shared, variants: [] } } : null
  const few = product.variants.filter(({ stock }) => stock !== null && stock >= 1 && stock <= threshold)
  const variants = few.map(({ variantId, stock }) => {
    return { variantId, stock, text: textFor(settings, stock!, product.name) }
  })
  return { value: { ...shared, variants } }
}

/** Of the cards of a list those that few are left of in all their variants together: a card has none chosen. */
export async function counterCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, unknown>> {
  const settings = await stockCounter.forShoppers(ctx)
  if (!settings.isEnabled || !settings.showInProductList) return new Map()
  const products = [...(await snapshots.find(ctx, productIds))]
  return new Map(
    products.flatMap(([productId, product]) => {
      if (!isMeant(settings, productId, product)) return []
      // Of what nobody counts there may be any number.
      if (product.variants.some(({ stock }) => stock === null)) return []
      const left = product.variants.reduce((sum, { stock }) => sum + Math.max(0, stock!), 0)
      if (left < 1 || left > settings.threshold) return []
      return [[productId, { stock: left, text: textFor(settings, left, product.name) }]]
    }),
  )
}

const isMeant = (
  { scope, productIds, categoryIds }: CounterContent,
  productId: string,
  product: snapshots.Snapshot | undefined,
): product is snapshots.Snapshot =>
  product?.exists === true &&
  (scope === 'all' ||
    (scope === 'products' && productIds.includes(productId)) ||
    (scope === 'categories' && product.categoryIds.some((id) => categoryIds.includes(id))))

function textFor({ text, lastUnitText }: CounterContent, stock: number, productName: string): string {
  const said = stock === 1 ? (lastUnitText ?? text) : text
  return renderText(said, { stock: String(stock), productName }).text
}
