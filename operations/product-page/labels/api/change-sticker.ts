import { operation } from '#runtime/operation'
import { changedSticker, sticker } from '../schema.ts'
import { changeSticker, readSticker } from '../stickers.ts'

export default operation({
  method: 'PUT',
  path: '/product-stickers',
  description: 'Change a sticker; what is left out keeps its value, and shoppers see it at once.',
  words: 'change a sticker',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: changedSticker },
  answer: { status: 200, body: sticker },
  refuses: {
    not_found: 'There is no such sticker',
    conflict: 'A new product or category is named, and no platform is connected; or others change the same',
    unavailable: 'A new product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { body }) => readSticker(ctx, body.id) },
  example: { body: { id: '01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8d', position: 'top-right' } },
  async handler(ctx, { body: { id, ...change } }) {
    await changeSticker(ctx, id, change)
    return readSticker(ctx, id)
  },
})
