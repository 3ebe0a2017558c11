/** Stickers: labels on the picture of a product. */
import { refuse } from '#runtime/errors'
import { labelKind } from './labels.ts'
import { type StickerChange, type StickerOwn, sticker, stickerDefaults, stickerOwn } from './schema.ts'

const needs = { image: 'imageUrl', text: 'text', preset: 'preset' } as const

export const {
  read: readSticker,
  list: listStickers,
  create: createSticker,
  change: changeSticker,
  remove: deleteSticker,
} = labelKind<StickerOwn, StickerChange>({
  name: 'sticker',
  fields: stickerOwn,
  defaults: stickerDefaults,
  schema: sticker,
  normalize(own) {
    const { kind, imageUrl, text, preset } = own
    const normalized: StickerOwn = {
      ...own,
      // Fields that the kind does not use are set to null.
      imageUrl: kind === 'image' ? imageUrl : null,
      text: kind === 'text' ? text || null : null,
      preset: kind === 'preset' ? preset : null,
    }
    const needed = needs[kind]
    if (normalized[needed] === null) {
      throw refuse('bad_request', `${needed}: is required while kind is ${kind}`)
    }
    return normalized
  },
})
