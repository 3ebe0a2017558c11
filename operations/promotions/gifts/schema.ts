import { combinesWith, itemStatus, platformId, variableLine } from '#operations/storefront/index'
import { reference } from '#runtime/references'
import { money, moneyOver0, named, object, writeBody, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'
import { discountInput, discountMoves, discountShown, discountTimes } from '../discounts/schema.ts'

const combinesWithGifts = combinesWith
  .extend({ gifts: z.boolean().describe('Other gifts of the same cart') })
  .strict()

const variables = ['missingAmount', 'minAmount', 'gift']

const giftFields = {
  amountBasis: z.enum(['after-discounts', 'before-discounts']),
  addAutomatically: z.boolean().describe('false: the shopper claims it'),
  usageLimit: z.number().int().min(1).max(1_000_000).nullable().describe('Orders in all'),
  usageLimitPerCustomer: z.number().int().min(1).max(1000).nullable(),
  message: variableLine(1, 200, variables),
  successMessage: variableLine(1, 200, variables),
}
const giftItem = {
  productId: reference('product', platformId),
  variantId: reference('variant', platformId).nullable().describe('Filled in where the product has one only'),
  quantity: z.number().int().min(1).max(10),
}
const giftShown = {
  ...giftItem,
  variantId: reference('variant', platformId),
  name: z.string().nullable(),
  variantName: z.string().nullable(),
  imageUrl: z.string().nullable(),
  unitPrice: money.nullable(),
  status: itemStatus,
}

const giftReadOnlyFields = ['name', 'variantName', 'imageUrl', 'unitPrice', 'status']

export const cartGift = named(
  'CartGift',
  object({
    ...discountShown,
    status: z.enum(['active', 'scheduled', 'paused', 'ended', 'exhausted']),
    combinesWith: combinesWithGifts,
    minAmount: money,
    ...giftFields,
    gift: object(giftShown),
    ...discountTimes,
  }),
  {
    volatileFields: [...discountMoves, ...giftReadOnlyFields.map((field) => `gift.${field}`)],
  },
)

const minAmount = moneyOver0('must be more than 0')

export const giftInput = {
  ...discountInput,
  combinesWith: combinesWithGifts.partial().strict(),
  minAmount,
  ...giftFields,
  gift: writeBody(giftItem, giftReadOnlyFields),
}
/** Fields of a new gift: unlike a change, it must name the product. */
export const newGiftInput = { ...giftInput, gift: writeBody(giftItem, giftReadOnlyFields, ['productId']) }
export type GiftChange = { [K in keyof typeof giftInput]?: z.infer<(typeof giftInput)[K]> | undefined }
export const giftReadOnly = Object.keys(cartGift.shape).filter((key) => !(key in giftInput))

const content = object({
  combinesWith: combinesWithGifts,
  minAmount: money,
  ...giftFields,
  gift: object({ ...giftItem, variantId: giftShown.variantId }),
})
export type GiftContent = z.infer<typeof content>

export const giftWords = {
  message: {
    en: 'Add {{missingAmount}} more and get {{gift}}',
    'pt-BR': 'Adicione mais {{missingAmount}} e ganhe {{gift}}',
    es: 'Agrega {{missingAmount}} más y recibe {{gift}}',
  },
  successMessage: {
    en: '{{gift}} is in your cart',
    'pt-BR': '{{gift}} está no seu carrinho',
    es: '{{gift}} está en tu carrito',
  },
} satisfies Words<GiftContent>

/** Defaults of the fields that a POST may omit. */
export const giftDefaults = {
  combinesWith: { promotions: false, coupons: false, gifts: false },
  amountBasis: 'after-discounts',
  addAutomatically: true,
  usageLimit: null,
  usageLimitPerCustomer: null,
  ...getEnglishTexts(giftWords),
} as const
