import {
  assetUrl,
  combinesWith,
  itemCatalogFields,
  nullableText,
  platformId,
} from '#operations/storefront/index'
import { reference } from '#runtime/references'
import { count, money, named, object, otherAmount, text, writeBody, z } from '#runtime/schema'
import { discountInput, discountMoves, discountShown, discountTimes } from '../discounts/schema.ts'

const itemFields = {
  productId: reference('product', platformId),
  variantId: reference('variant', platformId).nullable().describe('Null: any variant'),
  quantity: z.number().int().min(1).max(99),
}
const itemShown = { ...itemFields, ...itemCatalogFields }
const itemReadOnly = Object.keys(itemCatalogFields)

const bundleFields = {
  title: nullableText(120).describe('Null: the name is shown'),
  description: text(0, 500).nullable(),
  imageUrl: assetUrl.nullable(),
  discountType: z.enum(['percentage', 'fixed', 'price']).describe('price: the whole bundle for this price'),
  discountValue: money.describe('More than 0; a percentage at most 100, an amount below regularPrice'),
  maxPerOrder: z.number().int().min(1).max(100).nullable(),
  showOn: z.enum(['all-items', 'first-item']).describe("On which items' product pages"),
}

export const bundle = named(
  'Bundle',
  object({
    ...discountShown,
    ...bundleFields,
    items: z.array(object(itemShown)),
    regularPrice: money.nullable().describe('Null while an item is missing'),
    discountAmount: money.nullable(),
    bundlePrice: money.nullable(),
    availability: z
      .enum(['available', 'out-of-stock', 'unavailable'])
      .describe('unavailable: an item is unpublished or missing, or the bundle saves nothing'),
    impressions: count,
    addsToCart: count,
    ...discountTimes,
  }),
  {
    volatileFields: [
      ...discountMoves,
      'regularPrice',
      'discountAmount',
      'bundlePrice',
      'availability',
      'impressions',
      'addsToCart',
      ...itemReadOnly.map((field) => `items.${field}`),
    ],
  },
)

export const bundleInput = {
  ...discountInput,
  ...bundleFields,
  discountValue: otherAmount(z.number().gt(0, 'must be more than 0')),
  items: z
    .array(writeBody(itemFields, itemReadOnly, ['productId']))
    .min(1)
    .max(10),
}
export type BundleChange = {
  [K in keyof typeof bundleInput]?: z.infer<(typeof bundleInput)[K]> | undefined
}
export const bundleReadOnly = Object.keys(bundle.shape).filter((key) => !(key in bundleInput))

const content = object({ combinesWith, ...bundleFields, items: z.array(object(itemFields)) })
export type BundleContent = z.infer<typeof content>

/** Defaults of the fields that a POST may omit. */
export const bundleDefaults = {
  combinesWith: { promotions: false, coupons: false },
  title: null,
  description: null,
  imageUrl: null,
  maxPerOrder: null,
  showOn: 'all-items',
} as const
