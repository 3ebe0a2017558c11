import { operation } from '#runtime/operation'
import { changeBlock } from '../blocks.ts'
import { readBlock } from '../rows.ts'
import { changedBlock, contentBlock } from '../schema.ts'

export default operation({
  method: 'PUT',
  path: '/product-content-blocks',
  description: 'Change what a content block shows, where and when; shoppers see it at once if it is on.',
  details:
    'What is left out keeps its value, within `design` too; its type stays. `isActive` and `priority` are changed with `PATCH /product-content-blocks`.',
  words: 'rewrite a block on product pages',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: changedBlock },
  answer: { status: 200, body: contentBlock },
  refuses: {
    not_found: 'There is no such block',
    conflict: 'A new product or category is named, and no platform is connected; or others change the same',
    unavailable: 'A new product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { body }) => readBlock(ctx, body.id) },
  example: {
    body: { id: '01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8d', design: { title: 'Garantia de 12 meses' } },
  },
  async handler(ctx, { body: { id, ...change } }) {
    await changeBlock(ctx, id, change)
    return readBlock(ctx, id)
  },
})
