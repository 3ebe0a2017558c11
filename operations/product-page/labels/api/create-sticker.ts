import { operation } from '#runtime/operation'
import { newSticker, sticker } from '../schema.ts'
import { createSticker, readSticker } from '../stickers.ts'

export default operation({
  method: 'POST',
  path: '/product-stickers',
  description: 'Create a sticker for products; shoppers see it at once, unless it is off or begins later.',
  details: '`kind` says which of `imageUrl`, `text` and `preset` it needs.',
  words: 'put a sale sticker on product photos',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: newSticker },
  answer: { status: 201, body: sticker },
  refuses: {
    conflict: 'There are 50 stickers; or a product or category is named, and no platform is connected',
    unavailable: 'A product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: {
    body: { name: 'Lançamentos', kind: 'preset', preset: 'new', condition: 'new', conditionValue: 30 },
  },
  async handler(ctx, { body }) {
    return readSticker(ctx, await createSticker(ctx, body))
  },
})
