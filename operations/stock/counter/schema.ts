import { seenOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, instant, named, object, setOf, text, z } from '#runtime/schema'
import { variableFault } from '#runtime/values/variables'
import { english, type Words } from '#runtime/values/wording'

const variables = new Set(['stock', 'productName'])
const checked = <T extends z.ZodTypeAny>(schema: T) =>
  schema.superRefine((value: unknown, check) => {
    const fault = typeof value === 'string' ? variableFault(value, variables) : null
    if (fault) check.addIssue({ code: z.ZodIssueCode.custom, message: fault })
  })

const idsAtMost = 500
const ids = (kind: 'product' | 'category') => setOf(reference(kind, text(1, 64)), idsAtMost)

const fields = {
  isEnabled: z.boolean(),
  threshold: z.number().int().min(1).max(1000).describe('Shown from 1 unit up to so many'),
  text: checked(text(1, 200)).describe('Knows {{stock}} and {{productName}}'),
  lastUnitText: checked(text(0, 200)).nullable().describe('Of the last unit; null: `text` is used'),
  showProgressBar: z.boolean(),
  position: z.enum(['below-price', 'above-buy-button', 'below-buy-button']),
  showInProductList: z.boolean(),
  scope: z.enum(['all', 'products', 'categories']),
  productIds: ids('product'),
  categoryIds: ids('category'),
  textColor: colour,
  barColor: seenOn('trackColor'),
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
  ...english(counterWords),
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
