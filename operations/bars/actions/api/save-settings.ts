import { operation } from '#runtime/operation'
import { actionSettings } from '../actions.ts'
import { actionBar, actionInput } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/action-bar/settings',
  description: 'Change the button banner; the storefront shows it at once. Fields left out keep their value.',
  details:
    'The whole is checked after the change, also when the banner is turned off; to turn it off whatever is stored, use `POST /action-bar/deactivate`.',
  words: 'change the bar of buttons on phones',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'storefront-bars',
  input: { body: actionInput },
  answer: { status: 200, body: actionBar },
  refuses: {
    conflict: 'A button leads to a new product, and no platform is connected that could know it',
    unavailable: 'A button leads to a new product, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: {
    body: {
      isEnabled: true,
      actions: [
        { type: 'messaging', label: 'Fale conosco', icon: 'chat', target: '+5511988887777' },
        { type: 'coupon', label: 'Cupom AURORA10', icon: 'tag', target: 'AURORA10' },
      ],
    },
  },
  handler: (ctx, { body }) => actionSettings.save(ctx, body),
})
