import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { createBundle, readBundle } from '../bundles.ts'
import { bundle, bundleInput, bundleReadOnly } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/bundles',
  description: 'Create a bundle of products that cost less together; the platform applies it at checkout.',
  details:
    'Unless it is paused it is on the platform when this answers 201, and nowhere when it answers anything else. At most 100 are active or scheduled at a time.',
  words: 'sell products together cheaper, kit, set, combo',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'bundles',
  transaction: 'own',
  input: { body: writeBody(bundleInput, bundleReadOnly, ['name', 'items', 'discountType', 'discountValue']) },
  answer: { status: 201, body: bundle },
  refuses: {
    conflict:
      'The name is taken, there are too many, no platform is connected, or the platform cannot apply it or refuses it',
    unavailable: 'The platform does not answer; nothing was created',
  },
  etag: true,
  example: {
    body: {
      name: 'Café da manhã',
      items: [{ productId: '1001', quantity: 2 }, { productId: '1002' }],
      discountType: 'percentage',
      discountValue: 15,
    },
  },
  async handler(ctx, { body }) {
    return readBundle(ctx, await createBundle(ctx, body))
  },
})
