/** Renders the alerts of a page from real events. An alert with fewer events than its `minCount` is left out. */

import { snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { toInitial } from '#runtime/values/confusables'
import { formatTimeSpan } from '#runtime/values/localized'
import { getAnonymousName, getGivenName, toPublicName } from '#runtime/values/public-name'
import { countCharacters, truncate } from '#runtime/values/truncate'
import { renderText, type Values } from '#runtime/values/variables'
import { translateBuiltIn } from '#runtime/values/wording'
import { listEnabledAlerts } from './alerts.ts'
import { countBuyers, countVisitors, findRecentPurchases, findScarceVariants } from './feed-queries.ts'
import { recentReviews } from './reviews-port.ts'
import type { AlertContent } from './schema.ts'
import { type AlertType, alertKinds } from './types.ts'

export interface FeedItem {
  alertType: AlertType
  /** Plain text. */
  text: string
  productId: string | null
  productName: string | null
  imageUrl: string | null
  url: string | null
  /** Time of the event, such as `3 hours ago`, in the store's language; null if the alert describes the present. */
  timeAgo: string | null
}

type FeedEntry = Omit<FeedItem, 'alertType' | 'text'> & { values: Values }
type FeedReader = (
  ctx: Context,
  content: AlertContent,
  product: snapshots.Snapshot | null,
) => Promise<FeedEntry[]>

const itemsAtMost = 50
const liveMs = 5 * minuteMs
const reviewTextAtMost = 80

/**
 * `productId` is the product of the page, or null. Alerts with a count are about that product, others about the whole
 * shop.
 */
export async function readFeed(ctx: Context, productId: string | null): Promise<FeedItem[]> {
  const alerts = await listEnabledAlerts(ctx)
  if (alerts.length === 0) return []
  const found = productId === null ? undefined : (await snapshots.find(ctx, [productId])).get(productId)
  const product = found?.exists && found.isPublished ? found : null
  const entries = await Promise.all(
    alerts.map(async ({ alertType, content: saved }) => {
      const content = translateBuiltIn(saved, alertKinds[alertType].words, ctx.store.locale)
      const isLeftOut = product !== null && content.excludedProductIds.includes(product.productId)
      const items = await feedReaders[alertType](ctx, content, isLeftOut ? null : product)
      return items.map(({ values, ...item }) => ({
        alertType,
        text: renderText(content.text, values).text,
        ...item,
      }))
    }),
  )
  return entries.flat()
}

const getSince = (ctx: Context, { windowHours }: AlertContent): Date =>
  new Date(ctx.clock.ms() - windowHours * hourMs)
const getLimit = ({ maxPerSession }: AlertContent): number => Math.min(itemsAtMost, maxPerSession)
/** The number of rows to read: enough to fill the alert and to check `minCount`. */
const getFetchLimit = (content: AlertContent): number => Math.max(getLimit(content), content.minCount)
const applyMinimum = <T>(content: AlertContent, items: T[]): T[] =>
  items.length < content.minCount ? [] : items.slice(0, getLimit(content))

/** Builds a reader for an alert that shows a count for the page's product. */
const countForProduct =
  (count: (ctx: Context, content: AlertContent, productId: string) => Promise<number>): FeedReader =>
  async (ctx, content, product) => {
    if (!product) return []
    const n = await count(ctx, content, product.productId)
    if (n < content.minCount) return []
    const { productId, name, imageUrl, url } = product
    const values = { count: String(n), hours: String(content.windowHours), productName: name }
    return [{ values, productId, productName: name, imageUrl, url, timeAgo: null }]
  }

const feedReaders: Record<AlertType, FeedReader> = {
  async 'recent-purchases'(ctx, content) {
    const { excludedProductIds: excluded } = content
    const found = await findRecentPurchases(ctx, {
      since: getSince(ctx, content),
      excluded,
      limit: getFetchLimit(content),
    })
    return applyMinimum(content, found).map(({ quantity, customerName, city, at, ...product }) => {
      const timeAgo = formatAge(ctx, at)
      const firstName = formatCustomerName(customerName, content, ctx.store.locale)
      const { productName } = product
      return {
        ...product,
        timeAgo,
        values: { firstName, city: toPublicName(city), productName, quantity: String(quantity), timeAgo },
      }
    })
  },
  'purchase-count': countForProduct((ctx, content, productId) =>
    countBuyers(ctx, productId, getSince(ctx, content)),
  ),
  'live-visitors': countForProduct((ctx, _content, productId) =>
    countVisitors(ctx, 'product-view', productId, new Date(ctx.clock.ms() - liveMs)),
  ),
  'product-views': countForProduct((ctx, content, productId) =>
    countVisitors(ctx, 'product-view', productId, getSince(ctx, content)),
  ),
  'cart-adds': countForProduct((ctx, content, productId) =>
    countVisitors(ctx, 'cart-add', productId, getSince(ctx, content)),
  ),
  async 'recent-reviews'(ctx, content) {
    const { excludedProductIds: excluded } = content
    const found = await recentReviews(ctx, {
      since: getSince(ctx, content),
      excluded,
      limit: getFetchLimit(content),
    })
    const products = await snapshots.find(
      ctx,
      found.map((review) => review.productId),
    )
    const shown = found.filter(({ productId }) => {
      const product = products.get(productId)
      return product?.exists && product.isPublished
    })
    return applyMinimum(content, shown).map(({ productId, customerName, rating, text, reviewedAt }) => {
      const { name: productName, imageUrl, url } = products.get(productId)!
      const timeAgo = formatAge(ctx, reviewedAt)
      const firstName = formatCustomerName(customerName, content, ctx.store.locale)
      const values = {
        firstName,
        productName,
        rating: String(rating),
        reviewText: truncateText(text),
        timeAgo,
      }
      return { values, productId, productName, imageUrl, url, timeAgo }
    })
  },
  async 'low-stock'(ctx, content, product) {
    const { excludedProductIds } = content
    const productId = product?.productId ?? null
    const found = await findScarceVariants(ctx, productId, excludedProductIds, getFetchLimit(content))
    return applyMinimum(content, found).map(({ stock, ...variant }) => {
      const values = { stock: String(stock), productName: variant.productName }
      return { ...variant, timeAgo: null, values }
    })
  },
}

/** Formats a customer's name for strangers: the first name, its initial or an anonymous name, never the surname. */
export function formatCustomerName(
  name: string | null,
  { nameFormat }: Pick<AlertContent, 'nameFormat'>,
  locale: string,
): string {
  const first = getGivenName(toPublicName(name))
  if (!first || nameFormat === 'hidden') return getAnonymousName(locale)
  return nameFormat === 'initial' ? toInitial(first) : first
}

const units: [name: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** Formats a duration in its largest whole unit. */
export function formatTimeAgo(milliseconds: number, locale: string): string {
  const seconds = Math.max(1, Math.floor(milliseconds / 1000))
  const [name, length] = units.find(([, each]) => seconds >= each)!
  return formatTimeSpan(-Math.floor(seconds / length), name, locale)
}
const formatAge = (ctx: Context, at: Date): string =>
  formatTimeAgo(ctx.clock.ms() - at.getTime(), ctx.store.locale)

function truncateText(text: string | null): string | null {
  if (text === null || countCharacters(text) <= reviewTextAtMost) return text
  return `${truncate(text, reviewTextAtMost - 1).trimEnd()}…`
}
