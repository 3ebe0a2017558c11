/** Quantity promotions: what is their own of a discount. */
import { sql } from 'kysely'
import { everyProduct, mergedTargeting, requireTargets, snapshots } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { fieldsOf, jsonObject } from '#runtime/database/json'
import { refuse } from '#runtime/errors'
import { given } from '#runtime/values/changes'
import { commonShape, contentText, timesShape } from '../discounts/json.ts'
import { discountKind } from '../discounts/resource.ts'
import { promotions } from './kind.ts'
import { type PromotionChange, type PromotionContent, promotionDefaults, promotionFields } from './schema.ts'

type Db = Context['db']

const promotionJson = (db: Db, now: unknown) =>
  jsonObject({
    ...commonShape(db, now),
    ...fieldsOf('d.content', Object.keys(promotionFields)),
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

export const {
  read: readPromotion,
  list: listPromotions,
  create: createPromotion,
  change: changePromotion,
  setActive: setPromotionActive,
  remove: deletePromotion,
} = discountKind<PromotionContent, PromotionChange>(promotions, {
  json: promotionJson,
  order: [['d.id', 'desc']],
  defaults: { ...promotionDefaults, ...everyProduct },
  merged(_ctx, base, { scope, categoryIds, productIds, excludedProductIds, ...own }) {
    const after: PromotionContent = {
      ...base,
      ...given(own),
      ...mergedTargeting(base, { scope, categoryIds, productIds, excludedProductIds }),
    }
    if (after.payQuantity >= after.buyQuantity) {
      throw refuse('bad_request', 'payQuantity: must be less than buyQuantity')
    }
    return after
  },
  check: requireTargets,
  requireActivable: requireSomethingLeft,
})
