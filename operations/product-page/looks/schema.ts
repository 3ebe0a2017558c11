import {
  assetUrl,
  itemCatalogFields,
  itemStatus,
  nullableText,
  platformId,
} from '#operations/storefront/index'
import { textColourOn } from '#runtime/contrast'
import { distinctList } from '#runtime/distinct-list'
import { reference } from '#runtime/references'
import {
  colour,
  count,
  currency,
  id,
  instant,
  line,
  money,
  named,
  object,
  writeBody,
  z,
} from '#runtime/schema'

const hotspot = object({ x: z.number().min(0).max(100), y: z.number().min(0).max(100) })
  .nullable()
  .describe('Where the item is on the picture, in per cent from its top left corner')

const itemFields = {
  productId: reference('product', platformId),
  variantId: reference('variant', platformId).nullable().describe('Null: any variant'),
  quantity: z.number().int().min(1).max(10),
  hotspot,
}
const itemReadOnly = Object.keys(itemCatalogFields)

const ownFields = {
  description: nullableText(500),
  imageUrl: assetUrl,
  imageAlt: nullableText(200),
  isActive: z.boolean(),
  showOnProductPages: z.boolean().describe('Whether it stands on the product pages of its items'),
}

export const lookHealth = z
  .enum(['healthy', 'degraded', 'broken'])
  .describe('healthy: every item can be bought; broken: fewer than two can; degraded: between the two')

export const look = named(
  'Look',
  object({
    id,
    name: line(1, 120),
    ...ownFields,
    items: z.array(object({ ...itemFields, ...itemCatalogFields })),
    health: lookHealth,
    checkedAt: instant.describe('When its items were last checked'),
    total: money
      .nullable()
      .describe('Total of the items that exist; null if none does, or if one is sold in another currency'),
    currency,
    impressions: count,
    clicks: count,
    addsToCart: count,
    createdAt: instant,
    updatedAt: instant,
  }),
  {
    volatileFields: [
      'health',
      'checkedAt',
      'total',
      'currency',
      'impressions',
      'clicks',
      'addsToCart',
      'updatedAt',
      ...itemReadOnly.map((field) => `items.${field}`),
    ],
  },
)

const lookInput = {
  name: line(1, 120),
  ...ownFields,
  items: z
    .array(writeBody(itemFields, itemReadOnly, ['productId']))
    .min(2)
    .max(12),
}
const readOnly = Object.keys(look.shape).filter((key) => !(key in lookInput) && key !== 'id')

/** Creates a look, or changes the one with the given `id`. */
export const lookBody = writeBody(
  { id: z.string().max(64).describe('Id of the look to change; left out: a new one'), ...lookInput },
  readOnly,
)
export type LookInput = Omit<z.infer<typeof lookBody>, 'id'>

const { isActive: _column, ...keptFields } = ownFields
const content = object({ ...keptFields, items: z.array(object(itemFields)) })
export type LookContent = z.infer<typeof content>

export const lookProblem = object({
  lookId: id,
  name: z.string(),
  isActive: z.boolean(),
  health: lookHealth,
  checkedAt: instant,
  problems: z.array(
    object({
      productId: reference('product', platformId),
      variantId: reference('variant', platformId).nullable(),
      name: z.string().nullable(),
      status: itemStatus,
    }),
  ),
})

const sectionFields = {
  key: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must have 1 to 40 lower-case letters, digits or -'),
  title: line(1, 80),
  subtitle: nullableText(160),
  lookIds: distinctList(
    z
      .array(reference('look', z.string().max(64)))
      .min(1)
      .max(20),
    'must not name a look twice',
  ),
  layout: z.enum(['carousel', 'grid']),
  isEnabled: z.boolean(),
}
export type HomeSection = z.infer<z.ZodObject<typeof sectionFields>>

const settingsFields = {
  isEnabled: z.boolean(),
  title: line(1, 80),
  buttonText: line(1, 80),
  hotspotColor: colour,
  buttonColor: colour,
  buttonTextColor: textColourOn('buttonColor'),
  unavailableItems: z
    .enum(['hide', 'show-sold-out'])
    .describe('How shoppers see items that cannot be bought'),
}
export const lookSettings = named(
  'LookSettings',
  object({
    ...settingsFields,
    homeSections: z.array(object(sectionFields)),
    updatedAt: instant.nullable().describe('Null: never saved'),
  }),
)
export const lookSettingsInput = {
  ...settingsFields,
  homeSections: z
    .array(writeBody(sectionFields, [], ['key', 'title', 'lookIds']))
    .max(10)
    .describe('Sections of the home page, replaced whole'),
}

export const shownSection = object({
  key: z.string(),
  title: z.string(),
  subtitle: z.string().nullable(),
  layout: sectionFields.layout,
  isEnabled: z.boolean(),
  looks: z.array(look).describe('Looks that shoppers see: active and not broken'),
  hiddenLooks: count.describe('Number of looks that they do not see'),
})
