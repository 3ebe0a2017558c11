import { operation } from '#runtime/operation'
import { actionSettings } from '../actions.ts'
import { actionBar } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/action-bar/settings',
  description: 'Get the button banner; the defaults until it was first saved.',
  words: 'bar of buttons on phones',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'storefront-bars',
  answer: { status: 200, body: actionBar },
  etag: true,
  handler: (ctx) => actionSettings.read(ctx),
})
