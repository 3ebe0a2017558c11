/** Stickers: on the picture of a product. */
import type { Context } from '#runtime/context'
import { preparedList } from '#runtime/database/list'
import { refuse } from '#runtime/errors'
import { given } from '#runtime/values/changes'
import {
  changeLabel,
  createLabel,
  deleteLabel,
  type Kind,
  labelJson,
  labelOrder,
  labelReader,
} from './labels.ts'
import { type StickerChange, type StickerOwn, sticker, stickerDefaults } from './schema.ts'

const needs = { image: 'imageUrl', text: 'text', preset: 'preset' } as const

export const stickers: Kind<StickerOwn> = {
  name: 'sticker',
  ownKeys: [
    'kind',
    'imageUrl',
    'text',
    'preset',
    'position',
    'widthPercentage',
    'backgroundColor',
    'textColor',
  ],
  mergeOwn(before, change) {
    const { kind, imageUrl, text, preset, position, widthPercentage, backgroundColor, textColor } = {
      ...stickerDefaults,
      ...before,
      ...given(change),
    } as StickerOwn
    const own: StickerOwn = {
      kind,
      // What the kind has no use for is emptied.
      imageUrl: kind === 'image' ? imageUrl : null,
      text: kind === 'text' ? text || null : null,
      preset: kind === 'preset' ? preset : null,
      position,
      widthPercentage,
      backgroundColor,
      textColor,
    }
    const needed = needs[kind]
    if (own[needed] === null) {
      throw refuse('bad_request', `${needed}: is required while kind is ${kind}`)
    }
    return own
  },
  schema: sticker,
}

export const readSticker = labelReader(stickers)

/** By priority, then newest. */
export const listStickers = preparedList<{ isActive?: boolean | undefined }>((db, values, has) => {
  let rows = db.selectFrom('product_labels as l').where('l.kind', '=', 'sticker')
  if (has('isActive')) rows = rows.where('l.is_active', '=', values.isActive as boolean)
  return { rows, item: labelJson(stickers), page: 'l', order: labelOrder }
})

/** Answers its id. Not inside a transaction. */
export const createSticker = (ctx: Context, input: StickerChange & { name: string }): Promise<string> =>
  createLabel(ctx, stickers, input)

/** Not inside a transaction. */
export const changeSticker = (ctx: Context, id: string, change: StickerChange): Promise<void> =>
  changeLabel(ctx, stickers, id, change)

export const deleteSticker = (ctx: Context, id: string): Promise<void> => deleteLabel(ctx, stickers, id)
