import { operation } from '#runtime/operation'
import { deleteBlock } from '../blocks.ts'
import { readBlock } from '../rows.ts'
import { contentBlock } from '../schema.ts'

export default operation({
  method: 'DELETE',
  path: '/product-content-blocks/:id',
  description: 'Delete a content block with its counters; those after it move up.',
  words: 'throw a block away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such block' },
  ifMatch: { of: contentBlock, read: (ctx, { params }) => readBlock(ctx, params.id) },
  handler: (ctx, { params }) => deleteBlock(ctx, params.id),
})
