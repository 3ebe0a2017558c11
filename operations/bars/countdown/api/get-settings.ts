import { operation } from '#runtime/operation'
import { countdownSettings } from '../countdown.ts'
import { countdownBar } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/flash-countdown-bar/settings',
  description:
    'Get the countdown banner and the state of its countdown; the defaults until it was first saved.',
  words: 'countdown on top of the shop, announcement',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'storefront-bars',
  answer: { status: 200, body: countdownBar },
  etag: true,
  handler: (ctx) => countdownSettings.read(ctx),
})
