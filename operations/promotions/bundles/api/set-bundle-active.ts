import { operation } from '#runtime/operation'
import { activeInput } from '../../discounts/schema.ts'
import { readBundle, setBundleActive } from '../bundles.ts'
import { bundle } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/bundles/:id/active',
  description: 'Activate a bundle, or pause it: it is put on the platform, or taken off.',
  details: 'The state it has already changes nothing, so that a retry is safe.',
  words: 'turn a kit on or off',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'bundles',
  transaction: 'own',
  input: { body: activeInput },
  answer: { status: 200, body: bundle },
  refuses: {
    not_found: 'There is no such bundle',
    conflict:
      'It has ended, an item does not exist any more, its discount is not below its price, 100 are active or scheduled, another change is being written, or the platform refuses it',
    unavailable: 'The platform does not answer; nothing was changed',
  },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readBundle(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await setBundleActive(ctx, params.id, body.isActive)
    return readBundle(ctx, params.id)
  },
})
