/** Settings of badges, and of the featured price: the price with the merchant's preferred payment method (rule 1). */
import { platformId, variableLine, widgetSettings } from '#operations/storefront/index'
import { distinctList } from '#runtime/distinct-list'
import { reference } from '#runtime/references'
import { colour, decimals, instant, line, moneyAtLeast0, named, object, writeBody, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'

const featuredPriceFields = {
  isEnabled: z.boolean(),
  discountPercentage: z
    .number()
    .gt(0)
    .max(90)
    .refine(...decimals(4)),
  text: variableLine(1, 120, ['price', 'method', 'discountPercentage']),
  method: line(1, 40),
  minAmount: moneyAtLeast0('must be at least 0'),
  applyToSalePrice: z.boolean().describe('False: products on sale show none'),
  showInProductPage: z.boolean(),
  showInProductList: z.boolean(),
  excludedProductIds: distinctList(
    z.array(reference('product', platformId)).max(250),
    'must not name an id twice',
  ),
  textColor: colour,
  fontSize: z.number().int().min(10).max(40),
}
const featuredPrice = object(featuredPriceFields)
const fields = {
  isEnabled: z.boolean(),
  maxPerProduct: z.number().int().min(1).max(10).describe('Lowest priority first, then oldest'),
}

export const badgeSettings = named(
  'BadgeSettings',
  object({ ...fields, featuredPrice, updatedAt: instant.nullable().describe('Null: never saved') }),
)
export const badgeSettingsInput = writeBody({ ...fields, featuredPrice: featuredPrice.partial().strict() }, [
  'updatedAt',
])

export interface BadgeSettings {
  isEnabled: boolean
  maxPerProduct: number
  featuredPrice: z.infer<typeof featuredPrice>
}

export const badgeSettingsKey = 'badges'
const words = {
  featuredPrice: {
    text: {
      en: '{{price}} with {{method}}',
      'pt-BR': '{{price}} com {{method}}',
      es: '{{price}} con {{method}}',
    },
    method: { en: 'bank transfer', 'pt-BR': 'transferência bancária', es: 'transferencia bancaria' },
  },
} satisfies Words<BadgeSettings>
export const defaultBadgeSettings: BadgeSettings = {
  isEnabled: true,
  maxPerProduct: 3,
  featuredPrice: {
    isEnabled: false,
    discountPercentage: 10,
    ...getEnglishTexts(words).featuredPrice,
    minAmount: 0,
    applyToSalePrice: true,
    showInProductPage: true,
    showInProductList: false,
    excludedProductIds: [],
    textColor: '#15803d',
    fontSize: 16,
  },
}

/** The settings. Products that a save newly excludes are checked at the platform. */
export const badgeWidget = widgetSettings(badgeSettingsKey, {
  defaults: defaultBadgeSettings,
  words,
  schema: badgeSettings,
  references: { kinds: ['product'], live: true },
})
