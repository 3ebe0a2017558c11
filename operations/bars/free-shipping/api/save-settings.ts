import { operation } from '#runtime/operation'
import { freeShippingSettings } from '../free-shipping.ts'
import { freeShippingBar, freeShippingInput } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/free-shipping-bar/settings',
  description:
    'Change the free-shipping banner; the storefront shows it at once. Fields left out keep their value.',
  details:
    'It shows progress only: the shipping rule itself is set on the platform. The texts know {{threshold}}, {{remaining}}, {{total}} and {{percent}}.',
  words: 'change the bar for free delivery, its amount',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'storefront-bars',
  input: { body: freeShippingInput },
  answer: { status: 200, body: freeShippingBar },
  refuses: {
    conflict: 'A product is newly excluded, and no platform is connected to check it',
    unavailable: 'A product is newly excluded, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: {
    body: { isEnabled: true, threshold: 199, progressText: 'Faltam {{remaining}} para o frete grátis' },
  },
  handler: (ctx, { body }) => freeShippingSettings.save(ctx, body),
})
