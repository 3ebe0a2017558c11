import { assetUrl, nullableText, platformId, targetingFields } from '#operations/storefront/index'
import { id, instant, line, named, object, searchText, text, writeBody, z } from '#runtime/schema'
import type { Words } from '#runtime/values/wording'

export const instructionsAtMost = 10_000

const tableFields = {
  title: nullableText(80),
  columns: z.array(text(1, 40)).min(2).max(12),
  rows: z
    .array(z.array(z.string().max(40)).min(1).max(12))
    .min(1)
    .max(60)
    .describe('Each with as many cells as there are columns'),
}
const shownTable = object(tableFields)
export type SizeTable = z.infer<typeof shownTable>

const ownFields = {
  ...targetingFields,
  unit: z.enum(['cm', 'in', 'none']).describe('What the measurements in the cells are'),
  showUnitSwitch: z
    .boolean()
    .describe(
      'Lets shoppers read them in the other unit. Only measurements are converted, not sizes, ages or weights: a heading says which, such as "Chest", "Chest (cm)" or "EU"',
    ),
  imageUrl: assetUrl.nullable(),
  display: z.enum(['modal', 'inline', 'drawer']),
  linkText: line(1, 60),
}

export const sizeGuide = named(
  'SizeGuide',
  object({
    id,
    name: line(1, 120).describe('The heading shown'),
    ...ownFields,
    tables: z.array(shownTable),
    instructionsHtml: z.string().nullable(),
    isActive: z.boolean(),
    createdAt: instant,
    updatedAt: instant,
  }),
)

const input = {
  name: line(1, 120),
  ...ownFields,
  tables: z
    .array(writeBody(tableFields, [], ['columns', 'rows']))
    .min(1)
    .max(5),
  instructionsHtml: z
    .string()
    // HTML may be longer before cleaning, which removes tags.
    .max(instructionsAtMost * 4, `must have at most ${instructionsAtMost} characters`)
    .nullable()
    .describe(`HTML: harmless tags stay; at most ${instructionsAtMost} characters after cleaning`),
  isActive: z.boolean(),
}
const readOnly = ['createdAt', 'updatedAt']
export const newSizeGuide = writeBody(input, ['id', ...readOnly], ['name', 'tables'])
export const changedSizeGuide = writeBody({ id: z.string().max(64), ...input }, readOnly, ['id'])
export type SizeGuideChange = Omit<z.infer<typeof changedSizeGuide>, 'id'>

type Column = 'id' | 'name' | 'isActive' | 'createdAt' | 'updatedAt'
export type SizeGuideContent = Omit<z.infer<typeof sizeGuide>, Column>

export const guideWords = {
  linkText: { en: 'Size guide', 'pt-BR': 'Guia de tamanhos', es: 'Guía de tallas' },
} satisfies Words<SizeGuideContent>

export const guideFilters = {
  search: searchText('In the name'),
  productId: platformId.optional().describe('The one guide that is shown for this product'),
}
