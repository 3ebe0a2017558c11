/** Schemas of stickers and badges: common fields, and those of each kind. */
import {
  assetUrl,
  conditionFields,
  scheduleFields,
  targetingFields,
  variableLine,
} from '#operations/storefront/index'
import { textColourOn } from '#runtime/contrast'
import { colour, id, instant, line, named, object, text, writeBody, z } from '#runtime/schema'
import { featureIcons } from '../content-blocks/designs.ts'

const common = {
  name: line(1, 80).describe('For you alone; shoppers do not see it'),
  ...targetingFields,
  ...scheduleFields,
  ...conditionFields,
  isActive: z.boolean(),
  priority: z.number().int().min(1).max(1000).describe('Lower first'),
}
const shown = { startsAt: instant.nullable(), endsAt: instant.nullable() }

const stickerFields = {
  ...common,
  kind: z.enum(['image', 'text', 'preset']).describe('Which of imageUrl, text and preset it shows'),
  imageUrl: assetUrl.nullable(),
  text: text(0, 40).nullable(),
  preset: z.enum(['new', 'sale', 'best-seller', 'limited', 'exclusive', 'free-shipping']).nullable(),
  position: z.enum(['top-left', 'top-right', 'bottom-left', 'bottom-right']),
  widthPercentage: z.number().int().min(5).max(60).describe("Of the picture's width"),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
}

const badgeVariables = ['discountPercentage', 'stock', 'price', 'transferPrice']
const badgeFields = {
  ...common,
  text: variableLine(1, 80, badgeVariables),
  icon: z.enum(featureIcons).nullable(),
  placement: z.enum(['above-title', 'below-title', 'below-price', 'below-buy-button']),
  backgroundColor: colour,
  textColor: textColourOn('backgroundColor'),
  borderRadius: z.number().int().min(0).max(40),
}

const resource = <T extends z.ZodRawShape>(fields: T) =>
  object({ id, ...fields, ...shown, createdAt: instant, updatedAt: instant })
export const sticker = named('Sticker', resource(stickerFields))
export const badge = named('Badge', resource(badgeFields))

const times = ['createdAt', 'updatedAt']
export const newSticker = writeBody(stickerFields, ['id', ...times], ['name', 'kind'])
export const changedSticker = writeBody({ id: z.string().max(64), ...stickerFields }, times, ['id'])
export const newBadge = writeBody(badgeFields, ['id', ...times], ['name', 'text'])
export const changedBadge = writeBody({ id: z.string().max(64), ...badgeFields }, times, ['id'])

export type StickerChange = Partial<Omit<z.infer<typeof changedSticker>, 'id'>>
export type BadgeChange = Partial<Omit<z.infer<typeof changedBadge>, 'id'>>

export const stickerOwn = object(stickerFields).omit({ ...mask(common) })
export type StickerOwn = z.infer<typeof stickerOwn>
export const badgeOwn = object(badgeFields).omit({ ...mask(common) })
export type BadgeOwn = z.infer<typeof badgeOwn>

function mask<T extends object>(fields: T): { [K in keyof T]: true } {
  return Object.fromEntries(Object.keys(fields).map((key) => [key, true])) as never
}

export const stickerDefaults: Omit<StickerOwn, 'kind'> = {
  imageUrl: null,
  text: null,
  preset: null,
  position: 'top-left',
  widthPercentage: 20,
  backgroundColor: '#dc2626',
  textColor: '#ffffff',
}

export const badgeDefaults: Omit<BadgeOwn, 'text'> = {
  icon: null,
  placement: 'below-price',
  backgroundColor: '#eef2ff',
  textColor: '#3730a3',
  borderRadius: 6,
}
