/** What the alerts of a page say, rendered: nothing is made up, and below its `minCount` an alert says nothing. */

import { snapshots } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { hourMs, minuteMs } from '#runtime/durations'
import { spanText } from '#runtime/values/localized'
import { publicName, someone } from '#runtime/values/public-name'
import { initialOf, isSeen } from '#runtime/values/signs'
import { renderText, type Values } from '#runtime/values/variables'
import { inWords } from '#runtime/values/wording'
import { enabledAlerts } from './alerts.ts'
import { buyersOf, recentPurchases, scarceVariants, visitorsOf } from './feed-rows.ts'
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
  /** `3 hours ago` in the store's language; null where it is about now. */
  timeAgo: string | null
}

type Told = Omit<FeedItem, 'alertType' | 'text'> & { values: Values }
type Teller = (ctx: Context, content: AlertContent, product: snapshots.Snapshot | null) => Promise<Told[]>

const itemsAtMost = 50
const liveMs = 5 * minuteMs
const reviewTextAtMost = 80

/** `productId`: the product of the page, or null. What counts people is of that product; the rest of the shop. */
export async function readFeed(ctx: Context, productId: string | null): Promise<FeedItem[]> {
  const alerts = await enabledAlerts(ctx)
  if (alerts.length === 0) return []
  const found = productId === null ? undefined : (await snapshots.find(ctx, [productId])).get(productId)
  const product = found?.exists && found.isPublished ? found : null
  const told = await Promise.all(
    alerts.map(async ({ alertType, content: saved }) => {
      const content = inWords(saved, alertKinds[alertType].words, ctx.store.locale)
      const isLeftOut = product !== null && content.excludedProductIds.includes(product.productId)
      const items = await tellers[alertType](ctx, content, isLeftOut ? null : product)
      return items.map(({ values, ...item }) => ({
        alertType,
        text: renderText(content.text, values).text,
        ...item,
      }))
    }),
  )
  return told.flat()
}

const since = (ctx: Context, { windowHours }: AlertContent): Date =>
  new Date(ctx.clock.ms() - windowHours * hourMs)
const limitOf = ({ maxPerSession }: AlertContent): number => Math.min(itemsAtMost, maxPerSession)
/** As many as are shown, or as must be found for any to show. */
const wantedOf = (content: AlertContent): number => Math.max(limitOf(content), content.minCount)
const enough = <T>(content: AlertContent, items: T[]): T[] =>
  items.length < content.minCount ? [] : items.slice(0, limitOf(content))

/** One line about the product of the page, from how many people it was. */
const ofProduct =
  (count: (ctx: Context, content: AlertContent, productId: string) => Promise<number>): Teller =>
  async (ctx, content, product) => {
    if (!product) return []
    const n = await count(ctx, content, product.productId)
    if (n < content.minCount) return []
    const { productId, name, imageUrl, url } = product
    const values = { count: String(n), hours: String(content.windowHours), productName: name }
    return [{ values, productId, productName: name, imageUrl, url, timeAgo: null }]
  }

const tellers: Record<AlertType, Teller> = {
  async 'recent-purchases'(ctx, content) {
    const { excludedProductIds: excluded } = content
    const found = await recentPurchases(ctx, {
      since: since(ctx, content),
      excluded,
      limit: wantedOf(content),
    })
    return enough(content, found).map(({ quantity, customerName, city, at, ...product }) => {
      const timeAgo = agoOf(ctx, at)
      const firstName = shownName(customerName, content, ctx.store.locale)
      const { productName } = product
      return {
        ...product,
        timeAgo,
        values: { firstName, city: publicName(city), productName, quantity: String(quantity), timeAgo },
      }
    })
  },
  'purchase-count': ofProduct((ctx, content, productId) => buyersOf(ctx, productId, since(ctx, content))),
  'live-visitors': ofProduct((ctx, _content, productId) =>
    visitorsOf(ctx, 'product-view', productId, new Date(ctx.clock.ms() - liveMs)),
  ),
  'product-views': ofProduct((ctx, content, productId) =>
    visitorsOf(ctx, 'product-view', productId, since(ctx, content)),
  ),
  'cart-adds': ofProduct((ctx, content, productId) =>
    visitorsOf(ctx, 'cart-add', productId, since(ctx, content)),
  ),
  async 'recent-reviews'(ctx, content) {
    const { excludedProductIds: excluded } = content
    const found = await recentReviews(ctx, { since: since(ctx, content), excluded, limit: wantedOf(content) })
    const products = await snapshots.find(
      ctx,
      found.map((review) => review.productId),
    )
    const shown = found.filter(({ productId }) => {
      const product = products.get(productId)
      return product?.exists && product.isPublished
    })
    return enough(content, shown).map(({ productId, customerName, rating, text, reviewedAt }) => {
      const { name: productName, imageUrl, url } = products.get(productId)!
      const timeAgo = agoOf(ctx, reviewedAt)
      const firstName = shownName(customerName, content, ctx.store.locale)
      const values = { firstName, productName, rating: String(rating), reviewText: cut(text), timeAgo }
      return { values, productId, productName, imageUrl, url, timeAgo }
    })
  },
  async 'low-stock'(ctx, content, product) {
    const { excludedProductIds } = content
    const productId = product?.productId ?? null
    const found = await scarceVariants(ctx, productId, excludedProductIds, wantedOf(content))
    return enough(content, found).map(({ stock, ...variant }) => {
      const values = { stock: String(stock), productName: variant.productName }
      return { ...variant, timeAgo: null, values }
    })
  },
}

/** The first name alone, or less; a surname is never shown. */
export function shownName(
  name: string | null,
  { nameFormat }: Pick<AlertContent, 'nameFormat'>,
  locale: string,
): string {
  const first = publicName(name)?.split(/\s+/).find(isSeen)
  if (!first || nameFormat === 'hidden') return someone(locale)
  return nameFormat === 'initial' ? initialOf(first) : first
}

const units: [name: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
]

/** In the largest whole unit. */
export function timeAgo(milliseconds: number, locale: string): string {
  const seconds = Math.max(1, Math.floor(milliseconds / 1000))
  const [name, length] = units.find(([, each]) => seconds >= each)!
  return spanText(-Math.floor(seconds / length), name, locale)
}
const agoOf = (ctx: Context, at: Date): string => timeAgo(ctx.clock.ms() - at.getTime(), ctx.store.locale)

function cut(text: string | null): string | null {
  const characters = [...(text ?? '')]
  if (characters.length <= reviewTextAtMost) return text
  return `${characters
    .slice(0, reviewTextAtMost - 1)
    .join('')
    .trimEnd()}…`
}
