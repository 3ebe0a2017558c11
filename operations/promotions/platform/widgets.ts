/** What the storefront shows of promotions, bundles, gifts and installments. */
import { sql } from 'kysely'
import {
  isTargeted,
  nextTurn,
  phaseOf,
  snapshots,
  variantChoices,
  type Widget,
  type WidgetQuery,
} from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { inWords } from '#runtime/values/wording'
import { publicBundleJson } from '../bundles/json.ts'
import type { BundleContent } from '../bundles/schema.ts'
import type { KindName } from '../discounts/draft.ts'
import { isLive, type Saved } from '../discounts/rows.ts'
import { publicGiftJson } from '../gifts/json.ts'
import { type GiftContent, giftWords } from '../gifts/schema.ts'
import { publicInstallments } from '../installments/installments.ts'
import { installmentWidget } from '../installments/settings.ts'
import { labelOf } from '../promotions/promotions.ts'
import type { PromotionContent } from '../promotions/schema.ts'
import { promotionWidget } from '../promotions/settings.ts'

interface Shown {
  id: string
  name: string
  isActive: boolean
  startsAt: string | null
  endsAt: string | null
  usageCount: number
  content: object
  shown: unknown
}

/** Those switched on that have not ended; what shoppers see of each is made by the database. */
const candidates = (kind: KindName) =>
  prepared<
    { now: Date },
    Omit<Shown, 'startsAt' | 'endsAt'> & { startsAt: Date | null; endsAt: Date | null }
  >((db, values) =>
    db
      .selectFrom('discounts as d')
      .select([
        'd.id',
        'd.name',
        'd.is_active as isActive',
        'd.starts_at as startsAt',
        'd.ends_at as endsAt',
        'd.usage_count as usageCount',
        sql<object>`d.content`.as('content'),
        (kind === 'bundle'
          ? publicBundleJson(db)
          : kind === 'gift'
            ? publicGiftJson(db)
            : sql<unknown>`null::json`
        ).as('shown'),
      ])
      .where('d.kind', '=', kind)
      .where('d.is_active', '=', true)
      .where(sql<boolean>`(d.ends_at is null or d.ends_at > ${values.now}::timestamptz)`)
      .orderBy('d.min_amount')
      .orderBy('d.id', 'desc'),
  )
const finders = { promotion: candidates('promotion'), bundle: candidates('bundle'), gift: candidates('gift') }

/** Those that are active now, and when that will be others. */
async function activeOf(ctx: Context, kind: KindName): Promise<{ active: Shown[]; until: Date | null }> {
  const now = ctx.now()
  const rows = (await finders[kind](ctx, { now })).map((row) => ({
    ...row,
    startsAt: row.startsAt?.toISOString() ?? null,
    endsAt: row.endsAt?.toISOString() ?? null,
  }))
  const live = rows.filter((row) => isLive(row as unknown as Saved, now))
  return { active: live.filter((row) => phaseOf(row, now) === 'running'), until: nextTurn(live, now) }
}

/** Null: nothing, and nothing to come by itself. */
const widgetOf = (value: unknown, isEmpty: boolean, until: Date | null): Widget | null => {
  if (isEmpty) return until ? { value: null, until } : null
  return { value, until }
}

export async function promotionsWidget(
  ctx: Context,
  { productId, cards }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await promotionWidget.forShoppers(ctx)
  if (!settings.isEnabled) return null
  const { active, until } = await activeOf(ctx, 'promotion')
  const product =
    productId === null
      ? null
      : ((await snapshots.find(ctx, [productId])).get(productId) ?? { productId, categoryIds: [] })
  const items = active
    .filter(({ content }) => product === null || isTargeted(content as PromotionContent, product))
    .map((row) => {
      const { combinesWith: _rules, ...promotion } = row.content as PromotionContent
      return { ...shownOf(row), ...promotion }
    })
  // Products that the page lists may be in one, though its own is in none.
  const isEmpty = items.length === 0 && (cards.length === 0 || active.length === 0)
  return widgetOf({ settings, items }, isEmpty, until)
}

const shownOf = ({ id, name, endsAt, content }: Shown) => ({
  ...{ id, name, endsAt },
  label: labelOf(content as PromotionContent),
})

/** Which promotions each product of a list is in; what is said of them there. */
export async function promotionCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, { items: object[] }>> {
  const { isEnabled, showInProductList, showInCart } = await promotionWidget.forShoppers(ctx)
  if (!isEnabled || !(showInProductList || showInCart)) return new Map()
  const { active } = await activeOf(ctx, 'promotion')
  if (active.length === 0) return new Map()
  const products = [...(await snapshots.find(ctx, productIds)).values()]
  const cards = products.map((product): [string, { items: object[] }] => {
    const its = active.filter(({ content }) => isTargeted(content as PromotionContent, product))
    return [product.productId, { items: its.map(cardOf) }]
  })
  return new Map(cards.filter(([, { items }]) => items.length > 0))
}

function cardOf(row: Shown): object {
  const { buyQuantity, payQuantity, discountPercentage } = row.content as PromotionContent
  return { ...shownOf(row), buyQuantity, payQuantity, discountPercentage }
}

export async function bundlesWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  const { active, until } = await activeOf(ctx, 'bundle')
  const items = active
    .filter(({ content }) => productId === null || isShownOn(content as BundleContent, productId))
    .map(({ shown, endsAt }) => ({ ...(shown as ShownBundle), endsAt }))
  const open = items.flatMap((bundle) =>
    bundle.items.flatMap(({ variantId, productId: its }) => (variantId === null ? its : [])),
  )
  const choices = await variantChoices(ctx, open)
  const chosen = items.map((bundle) => ({
    ...bundle,
    items: bundle.items.map((item) =>
      item.variantId === null ? { ...item, variants: choices.get(item.productId) ?? [] } : item,
    ),
  }))
  return widgetOf({ items: chosen }, items.length === 0, until)
}

interface ShownBundle {
  items: { productId: string; variantId: string | null }[]
}

const isShownOn = ({ items, showOn }: BundleContent, productId: string): boolean =>
  (showOn === 'first-item' ? items.slice(0, 1) : items).some((item) => item.productId === productId)

interface ShownGift extends Pick<GiftContent, keyof typeof giftWords> {
  gift: { status: string }
}

export async function cartGiftsWidget(ctx: Context): Promise<Widget | null> {
  const { active, until } = await activeOf(ctx, 'gift')
  const items = active
    .map(({ shown, endsAt }) => ({ ...inWords(shown as ShownGift, giftWords, ctx.store.locale), endsAt }))
    // What cannot be given is not promised (rule 5).
    .filter(({ gift }) => gift.status === 'available')
  return widgetOf({ items }, items.length === 0, until)
}

export async function installmentsWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  const settings = await installmentWidget.forShoppers(ctx)
  if (!settings.isEnabled) return null
  const product = productId === null ? undefined : (await snapshots.find(ctx, [productId])).get(productId)
  const { rules, simulation } = await publicInstallments(ctx, product?.exists ? product.price : null)
  return widgetOf({ settings, rules, simulation }, rules.length === 0, null)
}

/** What the products of a list cost, where installments are shown there. */
export async function installmentCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, { price: number }>> {
  const { isEnabled, showInProductList } = await installmentWidget.forShoppers(ctx)
  if (!isEnabled || !showInProductList) return new Map()
  const products = [...(await snapshots.find(ctx, productIds)).values()]
  return new Map(
    products
      .filter(({ exists }) => exists)
      .map(({ productId, price }) => [productId, { price: Number(price) }]),
  )
}
