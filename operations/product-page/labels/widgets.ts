/** Widgets of stickers and badges. */

import { sql } from 'kysely'
import { amounts } from '#operations/store/index'
import {
  type Condition,
  findNextChange,
  getPhase,
  isTargeted,
  meetsCondition,
  type Schedule,
  snapshots,
  type Widget,
  type WidgetQuery,
} from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { dayMs } from '#runtime/durations'
import { renderText } from '#runtime/values/variables'
import { type BadgeSettings, badgeWidget } from './badge-settings.ts'
import { calculateFeaturedCents, toBadgeValues, toFeaturedValues } from './featured-price.ts'
import type { LabelContent, LabelKind } from './labels.ts'
import type { BadgeOwn, StickerOwn } from './schema.ts'

interface Row {
  id: string
  content: unknown
  starts_at: Date | null
  ends_at: Date | null
}

/** Selects the enabled labels that have not ended: lowest priority first, then oldest first. */
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

const readSaved = async <Own>(ctx: Context, kind: LabelKind): Promise<Saved<Own>[]> =>
  (await switchedOn(ctx, { kind, now: ctx.now() })).map(({ id, content, starts_at, ends_at }) => ({
    id,
    content: content as LabelContent<Own>,
    startsAt: starts_at?.toISOString() ?? null,
    endsAt: ends_at?.toISOString() ?? null,
  }))

/** The labels that are shown now, and when that changes. With a product, only its labels. */
function selectActiveLabels<Own>(
  ctx: Context,
  rows: readonly Saved<Own>[],
  productId: string | null,
  product: snapshots.Snapshot | null,
): { labels: Shown<Own>[]; until: Date | null } {
  const now = ctx.now()
  const target = product ?? (productId === null ? null : { productId, categoryIds: [] })
  const targeting = rows.filter(({ content }) => target === null || isTargeted(content, target))
  const running = targeting.filter((row) => getPhase(row, now) === 'running')
  const labels = running.filter(({ content }) => productId === null || isMet(content, product, now))
  const changes = [
    findNextChange(targeting, now),
    ...labels.map(({ content }) => getExpiryOfNew(content, product)),
  ]
  return { labels, until: findEarliest(changes.filter((at) => at !== null && at > now)) }
}

/** When the next product of a list stops being new, so that its card changes. */
async function findCardsChange(
  ctx: Context,
  rows: readonly Saved<object>[],
  { cards }: WidgetQuery,
): Promise<Date | null> {
  if (!rows.some(({ content }) => content.condition === 'new')) return null
  const products = await snapshots.find(ctx, cards)
  return findEarliest(
    [...products.values()].map((product) => selectActiveLabels(ctx, rows, product.productId, product).until),
  )
}

const findEarliest = (instants: readonly (Date | null)[]): Date | null => {
  const known = instants.flatMap((at) => at?.getTime() ?? [])
  return known.length === 0 ? null : new Date(Math.min(...known))
}

const isMet = (condition: Condition, product: snapshots.Snapshot | null, now: Date): boolean =>
  condition.condition === 'always' || (product !== null && meetsCondition(condition, product, now))

/** When a product stops being new in the sense of a label's condition; null if it is not new. */
const getExpiryOfNew = (
  { condition, conditionValue }: Condition,
  product: snapshots.Snapshot | null,
): Date | null =>
  condition === 'new' && product !== null
    ? new Date(product.createdAt.getTime() + conditionValue! * dayMs)
    : null

async function findProduct(ctx: Context, productId: string | null): Promise<snapshots.Snapshot | null> {
  if (productId === null) return null
  return toExisting((await snapshots.find(ctx, [productId])).get(productId))
}

const toExisting = (found: snapshots.Snapshot | undefined): snapshots.Snapshot | null =>
  found?.exists ? found : null

/** The targeting and condition of a label, added to it when the page's product is unknown. */
const toTargeting = ({
  scope,
  categoryIds,
  productIds,
  excludedProductIds,
  condition,
  conditionValue,
}: LabelContent<object>) => ({
  ...{ scope, categoryIds, productIds, excludedProductIds, condition, conditionValue },
})

const toSticker = ({ id, content }: Shown<StickerOwn>) => {
  const { kind, imageUrl, text, preset, position, widthPercentage, backgroundColor, textColor } = content
  return { id, kind, imageUrl, text, preset, position, widthPercentage, backgroundColor, textColor }
}

/** Builds the widget. On a page with cards it is not empty, even if the page's own product shows no sticker. */
export async function buildStickersWidget(ctx: Context, query: WidgetQuery): Promise<Widget | null> {
  const { productId, cards } = query
  const product = await findProduct(ctx, productId)
  const rows = await readSaved<StickerOwn>(ctx, 'sticker')
  const { labels, until: turn } = selectActiveLabels(ctx, rows, productId, product)
  const until = findEarliest([turn, await findCardsChange(ctx, rows, query)])
  const items = labels.map((label) => ({
    ...toSticker(label),
    ...(productId === null ? toTargeting(label.content) : {}),
  }))
  const isEmpty = items.length === 0 && (cards.length === 0 || rows.length === 0)
  if (isEmpty) return until ? { value: null, until } : null
  return { value: { items }, until }
}

/** The stickers of each product's card. Products without stickers are left out. */
export async function buildStickerCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, object>> {
  const rows = await readSaved<StickerOwn>(ctx, 'sticker')
  if (rows.length === 0) return new Map()
  const cards = new Map<string, object>()
  const products = await snapshots.find(ctx, productIds)
  for (const id of productIds) {
    const { labels } = selectActiveLabels(ctx, rows, id, toExisting(products.get(id)))
    if (labels.length > 0) cards.set(id, { items: labels.map(toSticker) })
  }
  return cards
}

type Badge = Omit<BadgeOwn, 'text'> & { id: string; text: string }

/** The badges of a product with their texts filled in. Without a product, all badges with their texts as written. */
function toBadges(
  ctx: Context,
  labels: readonly Shown<BadgeOwn>[],
  settings: BadgeSettings,
  productId: string | null,
  product: snapshots.Snapshot | null,
): Badge[] {
  const items = labels.flatMap(({ id, content }) => {
    const text = renderBadgeText(ctx, content.text, settings, productId, product)
    if (text === null) return []
    const { icon, placement, backgroundColor, textColor, borderRadius } = content
    const rules = productId === null ? toTargeting(content) : {}
    return [{ id, text, icon, placement, backgroundColor, textColor, borderRadius, ...rules }]
  })
  return productId === null ? items : items.slice(0, settings.maxPerProduct)
}

const readSavedBadges = async (ctx: Context, { isEnabled }: BadgeSettings): Promise<Saved<BadgeOwn>[]> =>
  isEnabled ? readSaved<BadgeOwn>(ctx, 'badge') : []

export async function buildBadgesWidget(ctx: Context, query: WidgetQuery): Promise<Widget | null> {
  const { productId, cards } = query
  const settings = await badgeWidget.getForShoppers(ctx)
  const product = await findProduct(ctx, productId)
  const rows = await readSavedBadges(ctx, settings)
  const { labels, until: turn } = selectActiveLabels(ctx, rows, productId, product)
  const until = findEarliest([turn, await findCardsChange(ctx, rows, query)])
  const items = toBadges(ctx, labels, settings, productId, product)
  const featuredPrice = toFeaturedPrice(ctx, settings.featuredPrice, productId, product)
  const featuredRule = product && toFeaturedRule(ctx, settings.featuredPrice, product)
  const isOnCards =
    cards.length > 0 &&
    (rows.length > 0 || (settings.featuredPrice.isEnabled && settings.featuredPrice.showInProductList))
  if (items.length === 0 && featuredPrice === null && featuredRule === null && !isOnCards) {
    return until ? { value: null, until } : null
  }
  const { maxPerProduct } = settings
  return { value: { maxPerProduct, items, featuredPrice, ...(featuredRule ? { featuredRule } : {}) }, until }
}

/** The badges of each product's card, and its featured price if the settings show it in lists. */
export async function buildBadgeCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, object>> {
  const settings = await badgeWidget.getForShoppers(ctx)
  const rows = await readSavedBadges(ctx, settings)
  const isPriced = settings.featuredPrice.isEnabled && settings.featuredPrice.showInProductList
  if (rows.length === 0 && !isPriced) return new Map()
  const cards = new Map<string, object>()
  const products = await snapshots.find(ctx, productIds)
  for (const id of productIds) {
    const product = toExisting(products.get(id))
    const { labels } = selectActiveLabels(ctx, rows, id, product)
    const items = toBadges(ctx, labels, settings, id, product)
    const featuredPrice = isPriced ? toFeaturedPrice(ctx, settings.featuredPrice, id, product) : null
    if (items.length > 0 || featuredPrice !== null) cards.set(id, { items, featuredPrice })
  }
  return cards
}

/** Fills in the product's values. Returns null if a value is missing, so that no incomplete sentence is shown. */
function renderBadgeText(
  ctx: Context,
  text: string,
  { featuredPrice }: BadgeSettings,
  productId: string | null,
  product: snapshots.Snapshot | null,
): string | null {
  if (productId === null) return text
  const values = product
    ? toBadgeValues(featuredPrice, product, toPriceFormat(ctx, product), ctx.store.currency)
    : {}
  const rendered = renderText(text, values)
  return rendered.missing.length > 0 ? null : rendered.text
}

function toFeaturedPrice(
  ctx: Context,
  settings: BadgeSettings['featuredPrice'],
  productId: string | null,
  product: snapshots.Snapshot | null,
): object | null {
  if (!settings.isEnabled) return null
  const { isEnabled: _on, ...rules } = settings
  if (productId === null) return rules
  const cents = product && calculateFeaturedCents(settings, product, ctx.store.currency)
  if (product === null || cents === null) return null
  const { textColor, fontSize, showInProductPage, showInProductList, method, discountPercentage } = rules
  const place = toPriceFormat(ctx, product)
  return {
    text: renderText(settings.text, toFeaturedValues(settings, cents, place)).text,
    price: amounts.inCurrency(place.currency).toNumber(cents),
    currency: place.currency,
    ...{ method, discountPercentage, showInProductPage, showInProductList, textColor, fontSize },
  }
}

/** The terms from which the browser calculates a variant's featured price; null if no variant can have a featured price. */
function toFeaturedRule(
  ctx: Context,
  settings: BadgeSettings['featuredPrice'],
  product: snapshots.Snapshot,
): object | null {
  const all = [product, ...product.variants.map(({ price }) => ({ ...product, price }))]
  if (all.every((each) => calculateFeaturedCents(settings, each, ctx.store.currency) === null)) return null
  const { isEnabled: _on, applyToSalePrice: _met, excludedProductIds: _none, ...rule } = settings
  return { ...rule, currency: toPriceFormat(ctx, product).currency }
}

const toPriceFormat = (ctx: Context, { currency }: snapshots.Snapshot) => ({
  currency,
  locale: ctx.store.locale,
})
