import { operation } from '#runtime/operation'
import { freeShippingSettings } from '../free-shipping.ts'
import { freeShippingBar } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/free-shipping-bar/settings',
  description: 'Get the free-shipping banner; the defaults until it was first saved.',
  words: 'bar that says how much is missing for free delivery',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'storefront-bars',
  answer: { status: 200, body: freeShippingBar },
  etag: true,
  handler: (ctx) => freeShippingSettings.read(ctx),
})
