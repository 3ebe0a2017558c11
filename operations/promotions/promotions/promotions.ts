/** Quantity promotions: read, made and changed. */
import { sql } from 'kysely'
import {
  always,
  everyProduct,
  mergedSchedule,
  mergedTargeting,
  requireTargets,
  snapshots,
} from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { jsonObject } from '#runtime/database/json'
import { preparedList } from '#runtime/database/list'
import { prepared } from '#runtime/database/query'
import { refuse } from '#runtime/errors'
import { JsonText } from '#runtime/operation'
import { given } from '#runtime/values/changes'
import { requireActivable } from '../discounts/activation.ts'
import type { Draft } from '../discounts/draft.ts'
import { commonShape, content, contentText, type DiscountFilters, timesShape } from '../discounts/json.ts'
import { type Saved, statusIn } from '../discounts/rows.ts'
import { changeDiscount, createDiscount, noSuch } from '../discounts/writes.ts'
import { promotions } from './kind.ts'
import { type PromotionChange, type PromotionContent, promotionDefaults } from './schema.ts'

type Db = Context['db']

const promotionJson = (db: Db, now: unknown) =>
  jsonObject({
    ...commonShape(db, now),
    scope: content('scope'),
    categoryIds: content('categoryIds'),
    productIds: content('productIds'),
    excludedProductIds: content('excludedProductIds'),
    buyQuantity: content('buyQuantity'),
    payQuantity: content('payQuantity'),
    discountPercentage: content('discountPercentage'),
    mixing: content('mixing'),
    maxSetsPerOrder: content('maxSetsPerOrder'),
    label: labelIn,
    ...timesShape,
  })

/** `labelOf` in SQL. */
const labelIn = sql<string>`${contentText('buyQuantity')} || 'x' || (${contentText('payQuantity')}) ||
  case when (${contentText('discountPercentage')})::numeric < 100
    then ' -' || (${contentText('discountPercentage')}) || '%' else '' end`

/** `3x2`; with a percentage below 100 `2x1 -50%`. */
export const labelOf = ({ buyQuantity, payQuantity, discountPercentage }: PromotionContent): string =>
  `${buyQuantity}x${payQuantity}${discountPercentage < 100 ? ` -${discountPercentage}%` : ''}`

const byId = prepared(
  (db, values: { id: string; now: Date }) =>
    db
      .selectFrom('discounts as d')
      .select(sql<string>`${promotionJson(db, values.now)}::text`.as('text'))
      .where('d.id', '=', values.id)
      .where('d.kind', '=', 'promotion'),
  { planOnce: true },
)

export async function readPromotion(ctx: Context, id: string): Promise<JsonText> {
  const [row] = await byId(ctx, { id, now: ctx.now() })
  if (!row) throw noSuch(promotions as never)
  return new JsonText(row.text)
}

export const listPromotions = preparedList<DiscountFilters>(
  (db, values, has) => {
    let rows = db.selectFrom('discounts as d').where('d.kind', '=', 'promotion')
    if (has('status')) rows = rows.where(statusIn(values.now), '=', sql<never>`${values.status}`)
    if (has('search')) rows = rows.where(sql<boolean>`strpos(lower(d.name), lower(${values.search})) > 0`)
    return { rows, item: promotionJson(db, values.now), page: 'd', order: [['d.id', 'desc']] }
  },
  { text: ['search'] },
)

/** Answers its id. Not inside a transaction. */
export async function createPromotion(
  ctx: Context,
  input: PromotionChange & Pick<Required<PromotionChange>, 'name' | 'buyQuantity' | 'payQuantity'>,
): Promise<string> {
  const draft = merged(ctx, null, input)
  await requireTargets(ctx, null, draft.content)
  return createDiscount(ctx, promotions as never, { ...draft, isActive: input.isActive ?? true })
}

/** Whether it is active stays as it is. Not inside a transaction. */
export async function changePromotion(ctx: Context, id: string, change: PromotionChange): Promise<void> {
  await changeDiscount(ctx, promotions, id, async (before) => {
    const draft = merged(ctx, before, change)
    await requireTargets(ctx, before.content, draft.content)
    return draft
  })
}

/** Not inside a transaction. Refuses to activate what ended, and what nothing is left of. */
export async function setPromotionActive(ctx: Context, id: string, isActive: boolean): Promise<void> {
  await changeDiscount(ctx, promotions, id, async (before) => {
    if (isActive && !before.isActive) {
      requireActivable(ctx, promotions.noun, before)
      await requireSomethingLeft(ctx, before.content)
    }
    const { name, startsAt, endsAt, content } = before
    return { name, startsAt, endsAt, content, isActive }
  })
}

async function requireSomethingLeft(ctx: Context, { scope, categoryIds, productIds }: PromotionContent) {
  if (scope === 'products') {
    const found = await snapshots.readLive(ctx, productIds)
    if (!productIds.some((id) => found.get(id)?.exists)) {
      throw refuse('conflict', 'None of its products exists any more: choose others first')
    }
  } else if (scope === 'categories') {
    const known = await snapshots.existingCategories(ctx)
    if (!categoryIds.some((id) => known.has(id))) {
      throw refuse('conflict', 'None of its categories exists any more: choose others first')
    }
  }
}

/** What is left out stays, or is the default; whole, it must hold together. */
function merged(
  ctx: Context,
  before: Saved<PromotionContent> | null,
  change: PromotionChange,
): Draft<PromotionContent> {
  const { name, isActive: _set, startsAt, endsAt, combinesWith, ...fields } = change
  const { scope, categoryIds, productIds, excludedProductIds, ...own } = fields
  const base = before?.content ?? ({ ...promotionDefaults, ...everyProduct } as PromotionContent)
  const content: PromotionContent = {
    ...base,
    ...given(own),
    ...mergedTargeting(base, { scope, categoryIds, productIds, excludedProductIds }),
    combinesWith: { ...base.combinesWith, ...given(combinesWith ?? {}) },
  }
  if (content.payQuantity >= content.buyQuantity) {
    throw refuse('bad_request', 'payQuantity: must be less than buyQuantity')
  }
  return {
    name: name ?? before!.name,
    isActive: before?.isActive ?? true,
    ...mergedSchedule(ctx.now(), before ?? always, { startsAt, endsAt }),
    content,
  }
}
