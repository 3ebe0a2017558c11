import { operation } from '#runtime/operation'
import { createAlert, readAlert } from '../alerts.ts'
import { fomoAlert, newAlert } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/fomo-alerts/create',
  description: 'Create the alert of one type. Fields left out take the defaults of the type.',
  details:
    'Every number and name that shoppers see comes from real events of the store; below `minCount` nothing shows.',
  words:
    'show that somebody just bought, show how many people look at the product now, live visitors, watching, social proof, urgency',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'fomo-alerts',
  input: { body: newAlert },
  answer: { status: 201, body: fomoAlert },
  refuses: {
    conflict:
      'The type was created before, or a product is excluded and no platform is connected to check it',
    unavailable: 'A product is excluded, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  example: { body: { alertType: 'recent-purchases', isEnabled: true, nameFormat: 'initial' } },
  async handler(ctx, { body }) {
    return readAlert(ctx, await createAlert(ctx, body))
  },
})
