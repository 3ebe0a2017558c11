import { assetUrl, itemStatus, nullableText, platformId } from '#operations/storefront/door'
import { reference } from '#runtime/references'
import { count, money, named, object, text, writeBody, z } from '#runtime/schema'
import { discountInput, discountMoves, discountShown, discountTimes } from '../discounts/schema.ts'

const itemFields = {
  productId: reference('product', platformId),
  variantId: reference('variant', platformId).nullable().describe('Null: any variant'),
  quantity: z.number().int().min(1).max(99),
}
export const itemShown = {
  ...itemFields,
  name: z.string().nullable(),
  variantName: z.string().nullable(),
  imageUrl: z.string().nullable(),
  url: z.string().nullable(),
  unitPrice: money.nullable().describe('Null while the item is missing'),
  status: itemStatus,
}
const itemReadOnly = ['name', 'variantName', 'imageUrl', 'url', 'unitPrice', 'status']

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
      .describe('unavailable: an item is unpublished or missing'),
    impressions: count,
    addsToCart: count,
    ...discountTimes,
  }),
  {
    moves: [
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
  discountValue: money.refine((value) => value > 0, 'must be more than 0'),
  items: z
    .array(writeBody(itemFields, itemReadOnly, ['productId']))
    .min(1)
    .max(10),
}
export type BundleChange = {
  [K in keyof typeof bundleInput]?: z.infer<(typeof bundleInput)[K]> | undefined
}
export const bundleReadOnly = Object.keys(bundle.shape).filter((key) => !(key in bundleInput))

export interface BundleItem {
  productId: string
  variantId: string | null
  quantity: number
}

export interface BundleContent {
  combinesWith: { promotions: boolean; coupons: boolean }
  title: string | null
  description: string | null
  imageUrl: string | null
  items: BundleItem[]
  discountType: 'percentage' | 'fixed' | 'price'
  discountValue: number
  maxPerOrder: number | null
  showOn: 'all-items' | 'first-item'
}

/** Beside those that a POST must give. */
export const bundleDefaults = {
  combinesWith: { promotions: false, coupons: false },
  title: null,
  description: null,
  imageUrl: null,
  maxPerOrder: null,
  showOn: 'all-items',
} as const
