import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { guideFilters, sizeGuide } from '../schema.ts'
import { listGuides } from '../size-guides.ts'

export default operation({
  method: 'GET',
  path: '/size-guides',
  description: 'List the size guides, newest first, or the one that shoppers see of a product.',
  details:
    'Of the active guides for a product, one that names the product is shown before one for its category, and that before one for all; among equals the one changed last.',
  words: 'size chart, measurements, which one a product has',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'size-guides',
  input: { query: object({ ...paging, ...guideFilters }) },
  answer: { status: 200, body: listOf(sizeGuide) },
  refuses: {
    conflict: 'productId is given, and no platform is connected that could know it',
    unavailable: 'productId is new to us, and the platform does not answer',
  },
  transaction: 'own',
  handler: (ctx, { query }) => listGuides(ctx, query),
})
