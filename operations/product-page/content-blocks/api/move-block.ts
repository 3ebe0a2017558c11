import { operation } from '#runtime/operation'
import { moveBlock } from '../blocks.ts'
import { readBlock } from '../rows.ts'
import { contentBlock, movedBlock } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-content-blocks',
  description: 'Turn a content block on or off, or move it to another place; shoppers see it at once.',
  details:
    'Give `isActive`, `priority` or both; other fields are ignored. A place beyond the last is the last.',
  words: 'turn a block on or off, move it',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: movedBlock },
  answer: { status: 200, body: contentBlock },
  refuses: { not_found: 'There is no such block', conflict: 'It has ended, and cannot be turned on' },
  etag: true,
  ifMatch: { read: (ctx, { body }) => readBlock(ctx, body.id) },
  example: { body: { id: '01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8d', isActive: true } },
  async handler(ctx, { body: { id, ...change } }) {
    await moveBlock(ctx, id, change)
    return readBlock(ctx, id)
  },
})
