/** The storefront widgets of promotions, bundles, gifts and installments. */
import { sql } from 'kysely'
import {
  findNextChange,
  getPhase,
  isTargeted,
  listVariantChoices,
  snapshots,
  type Widget,
  type WidgetQuery,
} from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { prepared } from '#runtime/database/query'
import { translateBuiltIn } from '#runtime/values/wording'
import { publicBundleJson } from '../bundles/json.ts'
import type { BundleContent } from '../bundles/schema.ts'
import type { KindName } from '../discounts/draft.ts'
import { isLive, type Saved } from '../discounts/rows.ts'
import { publicGiftJson } from '../gifts/json.ts'
import { type GiftContent, giftWords } from '../gifts/schema.ts'
import { readPublicInstallments } from '../installments/installments.ts'
import { installmentWidget } from '../installments/settings.ts'
import { buildLabel } from '../promotions/promotions.ts'
import type { PromotionContent } from '../promotions/schema.ts'
import { promotionWidget } from '../promotions/settings.ts'

interface ShownDiscount {
  id: string
  name: string
  isActive: boolean
  startsAt: string | null
  endsAt: string | null
  usageCount: number
  content: object
  shown: unknown
}

/** Selects the enabled discounts that have not ended, each with its public JSON. */
const prepareCandidates = (kind: KindName) =>
  prepared<
    { now: Date },
    Omit<ShownDiscount, 'startsAt' | 'endsAt'> & { startsAt: Date | null; endsAt: Date | null }
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
const finders = {
  promotion: prepareCandidates('promotion'),
  bundle: prepareCandidates('bundle'),
  gift: prepareCandidates('gift'),
}

/** The discounts that are active now, and when the next one starts or ends. */
async function readActive(
  ctx: Context,
  kind: KindName,
): Promise<{ active: ShownDiscount[]; until: Date | null }> {
  const now = ctx.now()
  const rows = (await finders[kind](ctx, { now })).map((row) => ({
    ...row,
    startsAt: row.startsAt?.toISOString() ?? null,
    endsAt: row.endsAt?.toISOString() ?? null,
  }))
  const live = rows.filter((row) => isLive(row as unknown as Saved, now))
  return { active: live.filter((row) => getPhase(row, now) === 'running'), until: findNextChange(live, now) }
}

/** Returns null if there is nothing to show now and nothing scheduled. */
const toWidget = (value: unknown, isEmpty: boolean, until: Date | null): Widget | null => {
  if (isEmpty) return until ? { value: null, until } : null
  return { value, until }
}

export async function buildPromotionsWidget(
  ctx: Context,
  { productId, cards }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await promotionWidget.getForShoppers(ctx)
  if (!settings.isEnabled) return null
  const { active, until } = await readActive(ctx, 'promotion')
  const product =
    productId === null
      ? null
      : ((await snapshots.find(ctx, [productId])).get(productId) ?? { productId, categoryIds: [] })
  const items = active
    .filter(({ content }) => product === null || isTargeted(content as PromotionContent, product))
    .map((row) => {
      const { combinesWith: _rules, ...promotion } = row.content as PromotionContent
      return { ...toShown(row), ...promotion }
    })
  // A page with cards needs the settings even if no promotion targets its own product: promotions may target the cards.
  const isEmpty = items.length === 0 && (cards.length === 0 || active.length === 0)
  return toWidget({ settings, items }, isEmpty, until)
}

const toShown = ({ id, name, endsAt, content }: ShownDiscount) => ({
  ...{ id, name, endsAt },
  label: buildLabel(content as PromotionContent),
})

/** The promotions that target each of these products, as shown on the product's card. */
export async function buildPromotionCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, { items: object[] }>> {
  const { isEnabled, showInProductList, showInCart } = await promotionWidget.getForShoppers(ctx)
  if (!isEnabled || !(showInProductList || showInCart)) return new Map()
  const { active } = await readActive(ctx, 'promotion')
  if (active.length === 0) return new Map()
  const products = [...(await snapshots.find(ctx, productIds)).values()]
  const cards = products.map((product): [string, { items: object[] }] => {
    const its = active.filter(({ content }) => isTargeted(content as PromotionContent, product))
    return [product.productId, { items: its.map(toCard) }]
  })
  return new Map(cards.filter(([, { items }]) => items.length > 0))
}

function toCard(row: ShownDiscount): object {
  const { buyQuantity, payQuantity, discountPercentage } = row.content as PromotionContent
  return { ...toShown(row), buyQuantity, payQuantity, discountPercentage }
}

export async function buildBundlesWidget(ctx: Context, { productId }: WidgetQuery): Promise<Widget | null> {
  const { active, until } = await readActive(ctx, 'bundle')
  const items = active
    .filter(({ content }) => productId === null || isShownOn(content as BundleContent, productId))
    .map(({ shown, endsAt }) => ({ ...(shown as ShownBundle), endsAt }))
    // A bundle that saves nothing is not shown (rule 4).
    .filter(({ discountAmount }) => discountAmount !== 0)
  const open = items.flatMap((bundle) =>
    bundle.items.flatMap(({ variantId, productId: its }) => (variantId === null ? its : [])),
  )
  const choices = await listVariantChoices(ctx, open)
  const chosen = items.map((bundle) => ({
    ...bundle,
    items: bundle.items.map((item) =>
      item.variantId === null ? { ...item, variants: choices.get(item.productId) ?? [] } : item,
    ),
  }))
  return toWidget({ items: chosen }, items.length === 0, until)
}

interface ShownBundle {
  /** Null while an item is missing. */
  discountAmount: number | null
  items: { productId: string; variantId: string | null }[]
}

const isShownOn = ({ items, showOn }: BundleContent, productId: string): boolean =>
  (showOn === 'first-item' ? items.slice(0, 1) : items).some((item) => item.productId === productId)

interface ShownGift extends Pick<GiftContent, keyof typeof giftWords> {
  gift: { status: string }
}

export async function buildCartGiftsWidget(ctx: Context): Promise<Widget | null> {
  const { active, until } = await readActive(ctx, 'gift')
  const items = active
    .map(({ shown, endsAt }) => ({
      ...translateBuiltIn(shown as ShownGift, giftWords, ctx.store.locale),
      endsAt,
    }))
    // A gift whose product cannot be bought is not shown (rule 5).
    .filter(({ gift }) => gift.status === 'available')
  return toWidget({ items }, items.length === 0, until)
}

export async function buildInstallmentsWidget(
  ctx: Context,
  { productId }: WidgetQuery,
): Promise<Widget | null> {
  const settings = await installmentWidget.getForShoppers(ctx)
  if (!settings.isEnabled) return null
  const product = productId === null ? undefined : (await snapshots.find(ctx, [productId])).get(productId)
  const { rules, simulation } = await readPublicInstallments(ctx, product?.exists ? product : null)
  return toWidget({ settings, rules, simulation }, rules.length === 0, null)
}

/** The prices of these products, if the settings show installments in product lists. */
export async function buildInstallmentCards(
  ctx: Context,
  productIds: readonly string[],
): Promise<ReadonlyMap<string, { price: number }>> {
  const { isEnabled, showInProductList } = await installmentWidget.getForShoppers(ctx)
  if (!isEnabled || !showInProductList) return new Map()
  const products = [...(await snapshots.find(ctx, productIds)).values()]
  return new Map(
    products
      .filter(({ exists, currency }) => exists && currency === ctx.store.currency)
      .map(({ productId, price }) => [productId, { price: Number(price) }]),
  )
}
