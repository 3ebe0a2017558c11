import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { changeBundle, readBundle } from '../bundles.ts'
import { bundle, bundleInput, bundleReadOnly } from '../schema.ts'

const { isActive: _ownOperation, ...writable } = bundleInput

export default operation({
  method: 'PATCH',
  path: '/bundles/:id',
  description: 'Change a bundle, on the platform too where it is active or scheduled.',
  details:
    'What is left out keeps its value; items are replaced whole. isActive is accepted and ignored: it has an operation of its own. After a 503 the bundle is as before, pending until the platform is brought back to it.',
  words: 'change a kit',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'bundles',
  transaction: 'own',
  input: { body: writeBody(writable, [...bundleReadOnly, 'isActive']) },
  answer: { status: 200, body: bundle },
  refuses: {
    not_found: 'There is no such bundle',
    conflict:
      'The name is taken, there are too many, another change of it is being written, or the platform refuses it',
    unavailable: 'The platform does not answer; nothing was changed',
  },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readBundle(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await changeBundle(ctx, params.id, body)
    return readBundle(ctx, params.id)
  },
})
