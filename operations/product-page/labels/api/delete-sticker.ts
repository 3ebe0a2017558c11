import { operation } from '#runtime/operation'
import { sticker } from '../schema.ts'
import { deleteSticker, readSticker } from '../stickers.ts'

export default operation({
  method: 'DELETE',
  path: '/product-stickers/:id',
  description: 'Delete a sticker; shoppers do not see it any more.',
  words: 'throw a sticker away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such sticker' },
  ifMatch: { of: sticker, read: (ctx, { params }) => readSticker(ctx, params.id) },
  handler: (ctx, { params }) => deleteSticker(ctx, params.id),
})
