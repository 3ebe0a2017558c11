import { operation } from '#runtime/operation'
import { reorderBlocks } from '../blocks.ts'
import { newOrder, reordered } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-content-blocks/reorder',
  description: 'Put all content blocks into a new order, first to last.',
  details: 'All ids of the store, each once; otherwise nothing changes.',
  words: 'order of the blocks on product pages',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: reordered },
  answer: { status: 200, body: newOrder },
  refuses: { not_found: 'One of them is no block of this store', conflict: 'A block is left out' },
  example: {
    body: {
      ids: ['01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8d', '01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8e'],
    },
  },
  handler: (ctx, { body }) => reorderBlocks(ctx, body.ids),
})
