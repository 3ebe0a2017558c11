import { operation } from '#runtime/operation'
import { readFreeShipping } from '../lib/free-shipping.ts'
import { freeShippingBar } from '../lib/free-shipping-schema.ts'

export default operation({
  method: 'GET',
  path: '/free-shipping-bar/settings',
  description: 'Get the free-shipping bar; the defaults until it was first saved.',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'storefront-bars',
  answer: { status: 200, body: freeShippingBar },
  etag: true,
  handler: (ctx) => readFreeShipping(ctx),
})
