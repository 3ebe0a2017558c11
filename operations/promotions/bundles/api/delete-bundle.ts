import { operation } from '#runtime/operation'
import { deleteBundle, readBundle } from '../bundles.ts'
import { bundle } from '../schema.ts'

export default operation({
  method: 'DELETE',
  path: '/bundles/:id',
  description: 'Delete a bundle: it is taken off the platform first.',
  words: 'throw a kit away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'bundles',
  transaction: 'own',
  answer: { status: 204 },
  refuses: {
    not_found: 'There is no such bundle',
    conflict: 'Another change of it is being written, or the platform refuses',
    unavailable: 'The platform does not answer; the bundle stays',
  },
  ifMatch: { of: bundle, read: (ctx, { params }) => readBundle(ctx, params.id) },
  handler: (ctx, { params }) => deleteBundle(ctx, params.id),
})
