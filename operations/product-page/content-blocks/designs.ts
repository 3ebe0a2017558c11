/** Schemas of the designs of content blocks: one per type, for saved and for returned designs. */
import { assetUrl, linkUrl, platformId } from '#operations/storefront/index'
import { graphicColourOn, textColourOn } from '#runtime/contrast'
import { reference } from '#runtime/references'
import { colour, named, object, text, z } from '#runtime/schema'
import { htmlField } from '../rich-text.ts'

/** Default labels of the before-and-after block. */
export const beforeAfterWords = {
  beforeLabel: { en: 'Before', 'pt-BR': 'Antes', es: 'Antes' },
  afterLabel: { en: 'After', 'pt-BR': 'Depois', es: 'Después' },
}

const whole = (least: number, most: number) => z.number().int().min(least).max(most)
const optionalText = (atMost: number) => text(0, atMost).nullable().default(null)

const blockStyle = named(
  'BlockStyle',
  object({
    backgroundColor: colour.nullable().default(null),
    textColor: textColourOn('backgroundColor').default('#111827'),
    titleColor: textColourOn('backgroundColor').default('#111827'),
    accentColor: graphicColourOn('backgroundColor').default('#2563eb'),
    borderColor: colour.nullable().default(null),
    borderRadius: whole(0, 50).default(8),
    padding: whole(0, 100).default(16),
    fontSize: whole(10, 40).default(15),
    align: z.enum(['left', 'center', 'right']).default('left'),
  }),
)

/** Fields of every design. */
const common = {
  title: optionalText(120),
  subtitle: optionalText(200),
  style: blockStyle.default({}),
}

export const htmlLimits = { coverage: 5000, answer: 5000, richText: 50_000, step: 2000 }

export const featureIcons = ['truck', 'leaf', 'lock', 'star', 'heart', 'return', 'card', 'gift'] as const
const isIcon = (value: string): boolean => (featureIcons as readonly string[]).includes(value)
const iconOrAsset = reference(
  'file',
  z
    .string()
    .min(1)
    .max(2000)
    .refine(
      (value) => isIcon(value) || assetUrl.safeParse(value).success,
      `must be one of ${featureIcons.join(', ')}, or the address of a picture`,
    ),
).describe(`${featureIcons.join(', ')}, or the address of a picture`)

const asset = assetUrl.nullable().default(null)

export const blockDesigns = {
  warranty: object({
    ...common,
    duration: whole(1, 120),
    durationUnit: z.enum(['days', 'months', 'years']),
    coverageHtml: htmlField(htmlLimits.coverage),
    icon: z.enum(['shield', 'check', 'medal', 'tools']).default('shield'),
    linkText: text(1, 60).nullable().default(null),
    linkUrl: linkUrl.nullable().default(null),
  }),
  faq: object({
    ...common,
    items: z
      .array(object({ question: text(1, 200), answerHtml: htmlField(htmlLimits.answer) }))
      .min(1)
      .max(30),
    openFirst: z.boolean().default(false),
    structuredData: z.boolean().default(true).describe('Adds FAQPage markup'),
  }),
  comparison: object({
    ...common,
    columns: z
      .array(
        object({
          title: text(1, 60),
          imageUrl: asset,
          productId: reference('product', platformId).nullable().default(null),
          isHighlighted: z.boolean().default(false).describe('One column at most'),
        }),
      )
      .min(2)
      .max(5),
    rows: z
      .array(
        object({
          label: text(1, 80),
          cells: z
            .array(z.union([z.boolean(), text(0, 120)]))
            .max(5)
            .describe('One for each column'),
        }),
      )
      .min(1)
      .max(30),
  }),
  'rich-text': object({ ...common, html: htmlField(htmlLimits.richText) }),
  specifications: object({
    ...common,
    rows: z
      .array(object({ label: text(1, 80), value: text(1, 300) }))
      .min(1)
      .max(60),
    layout: z.enum(['list', 'two-columns']).default('list'),
  }),
  features: object({
    ...common,
    items: z
      .array(object({ icon: iconOrAsset, title: text(1, 60), text: optionalText(160) }))
      .min(1)
      .max(12),
    columns: whole(1, 4).default(3),
  }),
  'image-banner': object({
    ...common,
    imageUrl: assetUrl,
    mobileImageUrl: asset,
    alt: text(1, 200),
    linkUrl: linkUrl.nullable().default(null),
    openInNewTab: z.boolean().default(false),
  }),
  'before-after': object({
    ...common,
    beforeImageUrl: assetUrl,
    afterImageUrl: assetUrl,
    beforeLabel: text(1, 40).default(beforeAfterWords.beforeLabel.en),
    afterLabel: text(1, 40).default(beforeAfterWords.afterLabel.en),
    startPosition: z.number().min(0).max(100).default(50),
  }),
  steps: object({
    ...common,
    items: z
      .array(object({ title: text(1, 80), textHtml: htmlField(htmlLimits.step), imageUrl: asset }))
      .min(1)
      .max(12),
  }),
} as const

export type BlockType = keyof typeof blockDesigns
export const blockTypes = Object.keys(blockDesigns) as [BlockType, ...BlockType[]]

/** A complete design with its type. */
export type Design = { [T in BlockType]: { type: T; design: z.output<(typeof blockDesigns)[T]> } }[BlockType]

const nameOfType = (type: string): string =>
  `${type
    .split('-')
    .map((word) => word[0]!.toUpperCase() + word.slice(1))
    .join('')}Design`

const namedDesigns = blockTypes.map((type) => named(nameOfType(type), blockDesigns[type] as z.ZodTypeAny))
export const anyDesign = z.union(namedDesigns as unknown as [z.ZodTypeAny, z.ZodTypeAny])
