import { graphicColourOn, textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, currency, instant, named, object, setOf, writeBody, z } from '#runtime/schema'
import { getEnglishTexts, type Words } from '#runtime/values/wording'
import { devices, pages, plainText, platformId, withVariables } from '../common-schema.ts'

/** Highest threshold; the lowest is 1. */
export const thresholdAtMost = 1_000_000

const text = withVariables(plainText(1, 200), ['threshold', 'remaining', 'total', 'percent'])

const fields = {
  isEnabled: z.boolean(),
  threshold: z
    .number()
    .int('must be a whole number, without decimals')
    .min(1)
    .max(thresholdAtMost)
    .nullable()
    .describe("Whole units of the store's currency"),
  initialText: text.describe('While the cart is empty'),
  progressText: text,
  successText: text,
  afterDiscounts: z.boolean().describe('The cart counts after its discounts'),
  excludedProductIds: setOf(reference('product', platformId), 200).describe('Do not count'),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  progressColor: graphicColourOn('trackColor'),
  trackColor: colour,
  showProgress: z.boolean(),
  isClosable: z.boolean(),
  isSticky: z.boolean(),
  position: z.enum(['top', 'bottom']),
  pages,
  devices,
}

const content = object(fields)
export type FreeShippingContent = z.infer<typeof content>

export const freeShippingBar = named(
  'FreeShippingBarSettings',
  object({ ...fields, currency, updatedAt: instant.nullable().describe('Null: never saved') }),
)
export const freeShippingInput = writeBody(fields, ['currency', 'updatedAt'])

export const freeShippingWords = {
  initialText: {
    en: 'Free shipping over {{threshold}}',
    'pt-BR': 'Frete grátis acima de {{threshold}}',
    es: 'Envío gratis desde {{threshold}}',
  },
  progressText: {
    en: 'Only {{remaining}} to go for free shipping',
    'pt-BR': 'Faltam só {{remaining}} para o frete grátis',
    es: 'Te faltan solo {{remaining}} para el envío gratis',
  },
  successText: {
    en: 'You have free shipping!',
    'pt-BR': 'Você ganhou frete grátis!',
    es: '¡Tienes envío gratis!',
  },
} satisfies Words<FreeShippingContent>

export const defaultFreeShipping: FreeShippingContent = {
  isEnabled: false,
  threshold: null,
  ...getEnglishTexts(freeShippingWords),
  afterDiscounts: true,
  excludedProductIds: [],
  backgroundColor: '#111827',
  textColor: '#ffffff',
  progressColor: '#22c55e',
  trackColor: '#374151',
  showProgress: true,
  isClosable: false,
  isSticky: true,
  position: 'top',
  pages: ['all'],
  devices: 'all',
}
