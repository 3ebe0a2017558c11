/** Stickers: on the picture of a product. */
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
  whole(own) {
    const { kind, imageUrl, text, preset } = own
    const kept: StickerOwn = {
      ...own,
      // What the kind has no use for is emptied.
      imageUrl: kind === 'image' ? imageUrl : null,
      text: kind === 'text' ? text || null : null,
      preset: kind === 'preset' ? preset : null,
    }
    const needed = needs[kind]
    if (kept[needed] === null) {
      throw refuse('bad_request', `${needed}: is required while kind is ${kind}`)
    }
    return kept
  },
})
