/** Stickers and badges as the storefront gets them. */
import { sql } from 'kysely'
import { amounts } from '#operations/store/door'
import {
  type Condition,
  isTargeted,
  meetsCondition,
  nextTurn,
  phaseOf,
  snapshots,
  type Widget,
  type WidgetQuery,
} from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
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

/** Those that are on now, of the product where there is one, and when that will be others. */
async function labelsOn<Own>(
  ctx: Context,
  kind: LabelKind,
  productId: string | null,
  product: snapshots.Snapshot | null,
): Promise<{ labels: Shown<Own>[]; until: Date | null }> {
  const now = ctx.now()
  const rows = (await switchedOn(ctx, { kind, now })).map(({ id, content, starts_at, ends_at }) => ({
    id,
    content: content as LabelContent<Own>,
    startsAt: starts_at?.toISOString() ?? null,
    endsAt: ends_at?.toISOString() ?? null,
  }))
  const target = product ?? (productId === null ? null : { productId, categoryIds: [] })
  const targeting = rows.filter(({ content }) => target === null || isTargeted(content, target))
  const running = targeting.filter((row) => phaseOf(row, now) === 'running')
  const labels = running.filter(({ content }) => productId === null || isMet(content, product, now))
  const turns = [nextTurn(targeting, now), ...labels.map(({ content }) => agesAt(content, product))]
  const coming = turns.filter((at): at is Date => at !== null && at > now)
  return {
    labels,
    until: coming.length === 0 ? null : new Date(Math.min(...coming.map((at) => at.getTime()))),
  }
}

const isMet = (condition: Condition, product: snapshots.Snapshot | null, now: Date): boolean =>
  condition.condition === 'always' || (product !== null && meetsCondition(condition, product, now))

const dayMs = 86_400_000

/** When a new product is new no longer. */
const agesAt = ({ condition, conditionValue }: Condition, product: snapshots.Snapshot | null): Date | null =>
  condition === 'new' && product !== null
    ? new Date(product.createdAt.getTime() + conditionValue! * dayMs)
    : null

async function productOf(ctx: Context, productId: string | null): Promise<snapshots.Snapshot | null> {
  if (productId === null) return null
  const found = (await snapshots.find(ctx, [productId])).get(productId)
  return found?.exists ? found : null
}

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

export async function stickersWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  const product = await productOf(ctx, productId)
  const { labels, until } = await labelsOn<StickerOwn>(ctx, 'sticker', productId, product)
  const items = labels.map(({ id, content }) => {
    const { kind, imageUrl, text, preset, position, widthPercentage, backgroundColor, textColor } = content
    return {
      ...{ id, kind, imageUrl, text, preset, position, widthPercentage, backgroundColor, textColor },
      ...(productId === null ? rulesOf(content) : {}),
    }
  })
  if (items.length === 0) return until ? { value: null, until } : null
  return { value: { items }, until }
}

export async function badgesWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  const settings = await badgeWidget.inForce(ctx)
  const product = await productOf(ctx, productId)
  const { labels, until } = settings.isEnabled
    ? await labelsOn<BadgeOwn>(ctx, 'badge', productId, product)
    : { labels: [], until: null }
  const texts = labels.flatMap((label) => {
    const text = textOf(ctx, label.content.text, settings, productId, product)
    return text === null ? [] : [{ ...label, text }]
  })
  const items = (productId === null ? texts : texts.slice(0, settings.maxPerProduct)).map(
    ({ id, text, content }) => {
      const { icon, placement, backgroundColor, textColor, borderRadius } = content
      return {
        ...{ id, text, icon, placement, backgroundColor, textColor, borderRadius },
        ...(productId === null ? rulesOf(content) : {}),
      }
    },
  )
  const featuredPrice = featuredOf(ctx, settings.featuredPrice, productId, product)
  if (items.length === 0 && featuredPrice === null) return until ? { value: null, until } : null
  return { value: { maxPerProduct: settings.maxPerProduct, items, featuredPrice }, until }
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

const placeOf = (ctx: Context, { currency }: snapshots.Snapshot) => ({ currency, locale: ctx.store.locale })
