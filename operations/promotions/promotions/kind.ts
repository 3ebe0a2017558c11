import type { Kind } from '../discounts/kinds.ts'
import { buildReference } from '../discounts/kinds.ts'
import { type PromotionContent, promotion } from './schema.ts'

export const promotions: Kind<PromotionContent> = {
  name: 'promotion',
  noun: 'promotion',
  feature: 'promotions',
  path: '/promotions',
  portKind: 'quantity',
  liveAtMost: 25,
  atMost: 500,
  spec(id, revision, { name, startsAt, endsAt, content }) {
    return {
      kind: 'quantity',
      reference: buildReference('promotion', id),
      revision,
      title: name,
      startsAt,
      endsAt,
      combinesWith: content.combinesWith,
      buyQuantity: content.buyQuantity,
      payQuantity: content.payQuantity,
      discountPercentage: content.discountPercentage,
      mixing: content.mixing,
      maxSetsPerOrder: content.maxSetsPerOrder,
      scope: content.scope,
      categoryIds: content.categoryIds,
      productIds: content.productIds,
      excludedProductIds: content.excludedProductIds,
    }
  },
  schema: promotion,
}
