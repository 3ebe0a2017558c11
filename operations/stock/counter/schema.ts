import { graphicColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, instant, named, object, setOf, text, z } from '#runtime/schema'
import { findVariableIssue } from '#runtime/values/variables'
import { getEnglishTexts, type Words } from '#runtime/values/wording'

const variables = new Set(['stock', 'productName'])
const withVariables = <T extends z.ZodTypeAny>(schema: T) =>
  schema.superRefine((value: unknown, check) => {
    const issue = typeof value === 'string' ? findVariableIssue(value, variables) : null
    if (issue) check.addIssue({ code: z.ZodIssueCode.custom, message: issue })
  })

const maxIds = 500
const ids = (kind: 'product' | 'category') => setOf(reference(kind, text(1, 64)), maxIds)

const fields = {
  isEnabled: z.boolean(),
  threshold: z.number().int().min(1).max(1000).describe('Shown from 1 unit up to so many'),
  text: withVariables(text(1, 200)).describe('Knows {{stock}} and {{productName}}'),
  lastUnitText: withVariables(text(0, 200))
    .nullable()
    .describe('Text for the last unit; null: `text` is used'),
  showProgressBar: z.boolean(),
  position: z.enum(['below-price', 'above-buy-button', 'below-buy-button']),
  showInProductList: z.boolean(),
  scope: z.enum(['all', 'products', 'categories']),
  productIds: ids('product'),
  categoryIds: ids('category'),
  textColor: colour,
  barColor: graphicColourOn('trackColor'),
  trackColor: colour,
  fontSize: z.number().int().min(10).max(40),
}
const content = object(fields)
export type CounterContent = z.infer<typeof content>

export const stockCounterSettings = named(
  'StockCounterSettings',
  object({ ...fields, updatedAt: instant.nullable().describe('Null until first saved') }),
)

export const counterInput = fields
export const counterReadOnly = ['updatedAt']
export type CounterChange = { [K in keyof CounterContent]?: CounterContent[K] | undefined }

export const counterWords = {
  text: { en: 'Only {{stock}} left', 'pt-BR': 'Restam apenas {{stock}}', es: 'Solo quedan {{stock}}' },
  lastUnitText: { en: 'Last one!', 'pt-BR': 'Última unidade!', es: '¡Última unidad!' },
} satisfies Words<CounterContent>

export const defaultCounter: CounterContent = {
  isEnabled: false,
  threshold: 10,
  ...getEnglishTexts(counterWords),
  showProgressBar: true,
  position: 'above-buy-button',
  showInProductList: false,
  scope: 'all',
  productIds: [],
  categoryIds: [],
  textColor: '#b91c1c',
  barColor: '#dc2626',
  trackColor: '#fee2e2',
  fontSize: 14,
}
