import { operation } from '#runtime/operation'
import { createBlock } from '../blocks.ts'
import { readBlock } from '../rows.ts'
import { contentBlock, newBlock } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/product-content-blocks',
  description:
    'Create a content block for product pages; it is off, and the last of them, until you change that.',
  details:
    'The fields of `design` depend on `type`. HTML is cleaned: the answer shows what was kept. Turn it on and move it with `PATCH /product-content-blocks`.',
  words: 'add a faq, warranty, specifications, banner to product pages',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: newBlock },
  answer: { status: 201, body: contentBlock },
  refuses: {
    conflict: 'There are 100 blocks; or a product or category is named, and no platform is connected',
    unavailable: 'A product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: {
    body: {
      name: 'Garantia padrão',
      type: 'warranty',
      design: { duration: 12, durationUnit: 'months', coverageHtml: '<p>Defeitos de fabricação.</p>' },
    },
  },
  async handler(ctx, { body }) {
    return readBlock(ctx, await createBlock(ctx, body))
  },
})
