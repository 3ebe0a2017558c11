import { operation } from '#runtime/operation'
import { patchStore } from '../profile.ts'
import { store, storePatchBody } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/store',
  description: "Change the store's profile, its settings and its preferences.",
  details:
    'A JSON merge patch. `name`, `email`, `phone`, `timezone`, `locale`, `logoUrl` and the settings ' +
    '(`messagingConnectionType`, `attribution`, `preferences`, nested in `settings` or at the top level) are ' +
    'checked; read-only fields of either read are ignored; every other key is a preference of your own. `null` ' +
    'removes a preference and clears a field that may be empty. A new `timezone` regroups every day, past ones ' +
    'included; new attribution hours hold for orders placed later.',
  words: 'change settings of the shop, rename the store, time zone, currency, logo, phone',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  input: { body: storePatchBody },
  answer: { status: 200, body: store },
  etag: true,
  ifMatch: ['/store', '/store/information'],
  example: { body: { messagingConnectionType: 'official', theme: { mode: 'dark' } } },
  handler: (ctx, { body }) => patchStore(ctx, body),
})
