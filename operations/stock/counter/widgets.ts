/** What the storefront shows: the form on what is sold out, and how few are left. */
import { snapshots, type Widget, type WidgetQuery } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { renderText } from '#runtime/values/variables'
import { type AlertContent, defaultAlerts, looks } from '../settings/schema.ts'
import { readAlerts } from '../settings/settings.ts'
import { stockCounter } from './settings.ts'

/** Null is the built-in text there; empty stays empty. */
const looksOf = (settings: AlertContent) =>
  Object.fromEntries(looks.map((name) => [name, settings[name] ?? defaultAlerts[name]]))

/** Key `stockAlerts`: looks and texts of the form, and which variants of the product are sold out. */
export async function alertsWidget(ctx: Context, { page, productId }: WidgetQuery): Promise<Widget | null> {
  const settings = await readAlerts(ctx)
  const isProductPage = page === 'product' && productId !== null
  const isShown = isProductPage ? settings.buttonShowInProductPage : settings.buttonShowInProductList
  if (!settings.isEnabled || !isShown || !(settings.allowEmails || settings.allowPhones)) return null
  const { allowEmails, allowPhones } = settings
  const shared = { allowEmails, allowPhones, ...looksOf(settings) }
  if (!isProductPage) return { value: { ...shared, soldOutVariantIds: null } }
  const product = (await snapshots.find(ctx, [productId])).get(productId)
  const isSold = snapshots.statusOf(product) === 'available' || snapshots.statusOf(product) === 'out-of-stock'
  const soldOut = isSold ? product!.variants.filter((variant) => variant.stock === 0) : []
  return { value: { ...shared, soldOutVariantIds: soldOut.map((variant) => variant.variantId) } }
}

/** Key `stockCounter`: of a product page the variants that few are left of, their texts rendered. */
export async function counterWidget(ctx: Context, { page, productId }: WidgetQuery): Promise<Widget | null> {
  const settings = await stockCounter.inForce(ctx)
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
