import { operation } from '#runtime/operation'
import { createBadge, readBadge } from '../badges.ts'
import { badge, newBadge } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/product-badges',
  description: 'Create a badge for products; shoppers see it at once, unless it is off or begins later.',
  details:
    'A badge whose variable has no value for a product is not shown there, unless the text has a fallback such as `{{stock|few}}`.',
  words: 'add a trust seal, secure payment, fast delivery',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: newBadge },
  answer: { status: 201, body: badge },
  refuses: {
    conflict: 'There are 50 badges; or a product or category is named, and no platform is connected',
    unavailable: 'A product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: { body: { name: 'Oferta', text: '{{discountPercentage}}% OFF', condition: 'on-sale' } },
  async handler(ctx, { body }) {
    return readBadge(ctx, await createBadge(ctx, body))
  },
})
