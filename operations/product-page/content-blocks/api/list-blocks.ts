import { platformId } from '#operations/storefront/index'
import { operation } from '#runtime/operation'
import { listOf, object, paging, queryFlag } from '#runtime/schema'
import { listBlocks } from '../blocks.ts'
import { blockType, contentBlock } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-content-blocks',
  description: 'List the content blocks of product pages in their order, with what each shows.',
  details: '`productId` leaves the blocks that are for this product; a product that does not exist has none.',
  words: 'warranty faq comparison specifications features banner steps',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'product-content',
  input: {
    query: object({
      ...paging,
      type: blockType.optional().describe('Only blocks of this type'),
      isActive: queryFlag.optional().describe('true: only active blocks; false: only the others'),
      productId: platformId.optional().describe('Blocks whose targeting takes this product'),
    }),
  },
  answer: { status: 200, body: listOf(contentBlock) },
  refuses: {
    conflict: 'productId is given, and no platform is connected that could know it',
    unavailable: 'productId is new to us, and the platform does not answer',
  },
  transaction: 'own',
  handler: (ctx, { query }) => listBlocks(ctx, query),
})
