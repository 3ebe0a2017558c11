/** Stickers and badges as the storefront gets them. */

import { sql } from 'kysely'
import { amounts } from '#operations/store/door'
import {
  type Condition,
  isTargeted,
  meetsCondition,
  nextTurn,
  phaseOf,
  type Schedule,
  snapshots,
  type Widget,
  type WidgetQuery,
} from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import { renderText } from '#runtime/values/variables'
import { type BadgeSettings, badgeWidget } from './badge-settings.ts'
import { badgeValues, featuredCents, featuredValues } from './featured-price.ts'
import type { LabelContent, LabelKind } from './labels.ts'
import type { BadgeOwn, StickerOwn } from './schema.ts'

interface Row {
  id: string
  content: unknown
  starts_at: Date | null
  ends_at: Date | null
}

/** Those switched on that have not ended; lowest priority first, then oldest. */
const switchedOn = prepared<{ kind: LabelKind; now: Date }, Row>((db, { kind, now }) =>
  db
    .selectFrom('product_labels as l')
    .select(['l.id', 'l.content', 'l.starts_at', 'l.ends_at'])
    .where('l.kind', '=', kind)
    .where('l.is_active', '=', true)
    .where(sql<boolean>`(l.ends_at is null or l.ends_at > ${now}::timestamptz)`)
    .orderBy('l.priority')
    .orderBy('l.id'),
)

interface Shown<Own> {
  id: string
  content: LabelContent<Own>
}

interface Saved<Own> extends Shown<Own>, Schedule {}

const savedOf = async <Own>(ctx: Context, kind: LabelKind): Promise<Saved<Own>[]> =>
  (await switchedOn(ctx, { kind, now: ctx.now() })).map(({ id, content, starts_at, ends_at }) => ({
    id,
    content: content as LabelContent<Own>,
    startsAt: starts_at?.toISOString() ?? null,
    endsAt: ends_at?.toISOString() ?? null,
  }))

/** Those that are on now, of the product where there is one, and when that will be others. */
function labelsOn<Own>(
  ctx: Context,
  rows: readonly Saved<Own>[],
  productId: string | null,
  product: snapshots.Snapshot | null,
): { labels: Shown<Own>[]; until: Date | null } {
  const now = ctx.now()
  const target = product ?? (productId === null ? null : { productId, categoryIds: [] })
  const targeting = rows.filter(({ content }) => target === null || isTargeted(content, target))
  const running = targeting.filter((row) => phaseOf(row, now) === 'running')
  const labels = running.filter(({ content }) => productId === null || isMet(content, product, now))
  const turns = [nextTurn(targeting, now), ...labels.map(({ content }) => agesAt(content, product))]
  return { labels, until: earliest(turns.filter((at) => at !== null && at > now)) }
}

/** When what the cards show will be another by itself: a product in a list is new no longer. */
async function turnOfCards(
  ctx: Context,
  rows: readonly Saved<object>[],
  { cards }: WidgetQuery,
): Promise<Date | null> {
  if (!rows.some(({ content }) => content.condition === 'new')) return null
  const products = await snapshots.find(ctx, cards)
  return earliest(
    [...products.values()].map((product) => labelsOn(ctx, rows, product.productId, product).until),
  )
}

const earliest = (instants: readonly (Date | null)[]): Date | null => {
  const known = instants.flatMap((at) => at?.getTime() ?? [])
  return known.length === 0 ? null : new Date(Math.min(...known))
}

const isMet = (condition: Condition, product: snapshots.Snapshot | null, now: Date): boolean =>
  condition.condition === 'always' || (product !== null && meetsCondition(condition, product, now))

/** When a new product is new no longer. */
const agesAt = ({ condition, conditionValue }: Condition, product: snapshots.Snapshot | null): Date | null =>
  condition === 'new' && product !== null
    ? new Date(product.createdAt.getTime() + conditionValue! * dayMs)
    : null

async function productOf(ctx: Context, productId: string | null): Promise<snapshots.Snapshot | null> {
  if (productId === null) return null
  return existing((await snapshots.find(ctx, [productId])).get(productId))
}

const existing = (found: snapshots.Snapshot | undefined): snapshots.Snapshot | null =>
  found?.exists ? found : null

/** Without a product, each label says which products it is for, and when. */
const rulesOf = ({
  scope,
  categoryIds,
  productIds,
  excludedProductIds,
  condition,
  conditionValue,
}: LabelContent<object>) => ({
  ...{ scope, categoryIds, productIds, excludedProductIds, condition, conditionValue },
})

const stickerOf = ({ id, content }: Shown<StickerOwn>) => {
  const { kind, imageUrl, text, preset, position, widthPercentage, backgroundColor, textColor } = content
  return { id, kind, imageUrl, text, preset, position, widthPercentage, backgroundColor, textColor }
}

/** Where there are cards, they may show some though the page's own product shows none. */
export async function stickersWidget(ctx: Context, query: WidgetQuery): Promise<Widget | null> {
  const { productId, cards } = query
  const product = await productOf(ctx, productId)
  const rows = await savedOf<StickerOwn>(ctx, 'sticker')
  const { labels, until: turn } = labelsOn(ctx, rows, productId, product)
  const until = earliest([turn, await turnOfCards(ctx, rows, query)])
  const items = labels.map((label) => ({
    ...stickerOf(label),
    ...(productId === null ? rulesOf(label.content) : {}),
  }))
  const isEmpty = items.length === 0 && (cards.length === 0 || rows.length === 0)
  if (isEmpty) return until ? { value: null, until } : null
  return { value: { items }, until }
}

/** By product; those without stickers are left out. */
export async function stickerCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, object>> {
  const rows = await savedOf<StickerOwn>(ctx, 'sticker')
  if (rows.length === 0) return new Map()
  const cards = new Map<string, object>()
  const products = await snapshots.find(ctx, productIds)
  for (const id of productIds) {
    const { labels } = labelsOn(ctx, rows, id, existing(products.get(id)))
    if (labels.length > 0) cards.set(id, { items: labels.map(stickerOf) })
  }
  return cards
}

type Badge = Omit<BadgeOwn, 'text'> & { id: string; text: string }

/** Without a product all of them, their texts as they were written. */
function badgesOf(
  ctx: Context,
  labels: readonly Shown<BadgeOwn>[],
  settings: BadgeSettings,
  productId: string | null,
  product: snapshots.Snapshot | null,
): Badge[] {
  const items = labels.flatMap(({ id, content }) => {
    const text = textOf(ctx, content.text, settings, productId, product)
    if (text === null) return []
    const { icon, placement, backgroundColor, textColor, borderRadius } = content
    const rules = productId === null ? rulesOf(content) : {}
    return [{ id, text, icon, placement, backgroundColor, textColor, borderRadius, ...rules }]
  })
  return productId === null ? items : items.slice(0, settings.maxPerProduct)
}

const savedBadges = async (ctx: Context, { isEnabled }: BadgeSettings): Promise<Saved<BadgeOwn>[]> =>
  isEnabled ? savedOf<BadgeOwn>(ctx, 'badge') : []

export async function badgesWidget(ctx: Context, query: WidgetQuery): Promise<Widget | null> {
  const { productId, cards } = query
  const settings = await badgeWidget.forShoppers(ctx)
  const product = await productOf(ctx, productId)
  const rows = await savedBadges(ctx, settings)
  const { labels, until: turn } = labelsOn(ctx, rows, productId, product)
  const until = earliest([turn, await turnOfCards(ctx, rows, query)])
  const items = badgesOf(ctx, labels, settings, productId, product)
  const featuredPrice = featuredOf(ctx, settings.featuredPrice, productId, product)
  const featuredRule = product && ruleOf(ctx, settings.featuredPrice, product)
  const isOnCards =
    cards.length > 0 &&
    (rows.length > 0 || (settings.featuredPrice.isEnabled && settings.featuredPrice.showInProductList))
  if (items.length === 0 && featuredPrice === null && featuredRule === null && !isOnCards) {
    return until ? { value: null, until } : null
  }
  const { maxPerProduct } = settings
  return { value: { maxPerProduct, items, featuredPrice, ...(featuredRule ? { featuredRule } : {}) }, until }
}

/** By product; the featured price where the settings show it in lists. */
export async function badgeCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, object>> {
  const settings = await badgeWidget.forShoppers(ctx)
  const rows = await savedBadges(ctx, settings)
  const isPriced = settings.featuredPrice.isEnabled && settings.featuredPrice.showInProductList
  if (rows.length === 0 && !isPriced) return new Map()
  const cards = new Map<string, object>()
  const products = await snapshots.find(ctx, productIds)
  for (const id of productIds) {
    const product = existing(products.get(id))
    const { labels } = labelsOn(ctx, rows, id, product)
    const items = badgesOf(ctx, labels, settings, id, product)
    const featuredPrice = isPriced ? featuredOf(ctx, settings.featuredPrice, id, product) : null
    if (items.length > 0 || featuredPrice !== null) cards.set(id, { items, featuredPrice })
  }
  return cards
}

/** For a product with its values in it; null where it lacks one, so that no half sentence is shown. */
function textOf(
  ctx: Context,
  text: string,
  { featuredPrice }: BadgeSettings,
  productId: string | null,
  product: snapshots.Snapshot | null,
): string | null {
  if (productId === null) return text
  const values = product ? badgeValues(featuredPrice, product, placeOf(ctx, product)) : {}
  const rendered = renderText(text, values)
  return rendered.missing.length > 0 ? null : rendered.text
}

function featuredOf(
  ctx: Context,
  settings: BadgeSettings['featuredPrice'],
  productId: string | null,
  product: snapshots.Snapshot | null,
): object | null {
  if (!settings.isEnabled) return null
  const { isEnabled: _on, ...rules } = settings
  if (productId === null) return rules
  const cents = product && featuredCents(settings, product)
  if (product === null || cents === null) return null
  const { textColor, fontSize, showInProductPage, showInProductList, method, discountPercentage } = rules
  const place = placeOf(ctx, product)
  return {
    text: renderText(settings.text, featuredValues(settings, cents, place)).text,
    price: amounts.toNumber(cents),
    currency: place.currency,
    ...{ method, discountPercentage, showInProductPage, showInProductList, textColor, fontSize },
  }
}

/** What the price of a variant is reckoned by in the browser, where any of the product's may show one. */
function ruleOf(
  ctx: Context,
  settings: BadgeSettings['featuredPrice'],
  product: snapshots.Snapshot,
): object | null {
  const all = [product, ...product.variants.map(({ price }) => ({ ...product, price }))]
  if (all.every((each) => featuredCents(settings, each) === null)) return null
  const { isEnabled: _on, applyToSalePrice: _met, excludedProductIds: _none, ...rule } = settings
  return { ...rule, currency: placeOf(ctx, product).currency }
}

const placeOf = (ctx: Context, { currency }: snapshots.Snapshot) => ({ currency, locale: ctx.store.locale })
