/** Quantity promotions: the rules and operations in which they differ from other kinds of discounts. */
import { sql } from 'kysely'
import { everyProduct, mergeTargeting, requireTargets, snapshots } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { jsonFields, jsonObject } from '#runtime/database/json'
import { refuse } from '#runtime/errors'
import { omitUndefined } from '#runtime/values/changes'
import { buildCommonShape, contentText, timesShape } from '../discounts/json.ts'
import { buildKindOperations } from '../discounts/resource.ts'
import { promotions } from './kind.ts'
import { type PromotionChange, type PromotionContent, promotionDefaults, promotionFields } from './schema.ts'

type Db = Context['db']

const promotionJson = (db: Db, now: unknown) =>
  jsonObject({
    ...buildCommonShape(db, now),
    ...jsonFields('d.content', Object.keys(promotionFields)),
    label: labelSql,
    ...timesShape,
  })

/** Like `buildLabel`, but in SQL. */
const labelSql = sql<string>`${contentText('buyQuantity')} || 'x' || (${contentText('payQuantity')}) ||
  case when (${contentText('discountPercentage')})::numeric < 100
    then ' -' || (${contentText('discountPercentage')}) || '%' else '' end`

/** Builds the label: `3x2`, or `2x1 -50%` if the percentage is below 100. */
export const buildLabel = ({ buyQuantity, payQuantity, discountPercentage }: PromotionContent): string =>
  `${buyQuantity}x${payQuantity}${discountPercentage < 100 ? ` -${discountPercentage}%` : ''}`

async function requireExistingTargets(ctx: Context, { scope, categoryIds, productIds }: PromotionContent) {
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
} = buildKindOperations<PromotionContent, PromotionChange>(promotions, {
  json: promotionJson,
  order: [['d.id', 'desc']],
  defaults: { ...promotionDefaults, ...everyProduct },
  mergeContent(_ctx, base, { scope, categoryIds, productIds, excludedProductIds, ...own }) {
    const after: PromotionContent = {
      ...base,
      ...omitUndefined(own),
      ...mergeTargeting(base, { scope, categoryIds, productIds, excludedProductIds }),
    }
    if (after.payQuantity >= after.buyQuantity) {
      throw refuse('bad_request', 'payQuantity: must be less than buyQuantity')
    }
    return after
  },
  check: requireTargets,
  requireActivatable: requireExistingTargets,
})
