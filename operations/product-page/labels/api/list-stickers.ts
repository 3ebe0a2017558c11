import { operation } from '#runtime/operation'
import { listOf, object, paging, queryFlag } from '#runtime/schema'
import { sticker } from '../schema.ts'
import { listStickers } from '../stickers.ts'

export default operation({
  method: 'GET',
  path: '/product-stickers',
  description: 'List the stickers on pictures of products, lowest priority first, then newest.',
  words: 'labels on product photos, sale, new',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'product-content',
  input: {
    query: object({
      ...paging,
      isActive: queryFlag.optional().describe('true: only active stickers; false: only the others'),
    }),
  },
  answer: { status: 200, body: listOf(sticker) },
  handler: (ctx, { query }) => listStickers(ctx, query),
})
