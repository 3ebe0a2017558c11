import { combinesWith, targetingFields } from '#operations/storefront/index'
import { named, object, z } from '#runtime/schema'
import {
  discountInput,
  discountMoves,
  discountShown,
  discountTimes,
  percentageOff,
} from '../discounts/schema.ts'

/** Fields specific to promotions, in the order of the JSON. */
export const promotionFields = {
  ...targetingFields,
  buyQuantity: z.number().int().min(2).max(50).describe('Units of a set'),
  payQuantity: z
    .number()
    .int()
    .min(1)
    .max(49)
    .describe('Units of a set that are paid in full; fewer than buyQuantity'),
  discountPercentage: percentageOff.describe('Taken off each of the other units'),
  mixing: z.enum(['any', 'same-product', 'same-variant']).describe('Which units may form one set'),
  maxSetsPerOrder: z.number().int().min(1).max(1000).nullable(),
}

export const promotion = named(
  'Promotion',
  object({
    ...discountShown,
    ...promotionFields,
    label: z.string().describe('3x2; with a percentage below 100: 2x1 -50%'),
    ...discountTimes,
  }),
  { volatileFields: discountMoves },
)

export const promotionInput = { ...discountInput, ...promotionFields }
export type PromotionChange = {
  [K in keyof typeof promotionInput]?: z.infer<(typeof promotionInput)[K]> | undefined
}
export const promotionReadOnly = Object.keys(promotion.shape).filter((key) => !(key in promotionInput))

const content = object({ combinesWith, ...promotionFields })
export type PromotionContent = z.infer<typeof content>

/** Defaults of the fields that a POST may omit. */
export const promotionDefaults = {
  combinesWith: { promotions: false, coupons: false },
  discountPercentage: 100,
  mixing: 'any',
  maxSetsPerOrder: null,
} as const
