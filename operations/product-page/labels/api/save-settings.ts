import { operation } from '#runtime/operation'
import { badgeSettings, badgeSettingsInput, badgeWidget } from '../badge-settings.ts'

export default operation({
  method: 'PUT',
  path: '/product-badges/settings',
  description: 'Change how badges and the featured price are shown; shoppers see it at once.',
  details:
    'What is left out keeps its value, within `featuredPrice` too. The featured price is a text: the discount itself is a setting of your platform. The settings are read with `GET /product-badges`.',
  words: 'bank transfer pix discount price',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: badgeSettingsInput },
  answer: { status: 200, body: badgeSettings },
  refuses: {
    conflict: 'A product is newly excluded, and no platform is connected to check it',
    unavailable: 'A product is newly excluded, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: badgeWidget.read },
  example: {
    body: { featuredPrice: { isEnabled: true, discountPercentage: 10, method: 'Pix' } },
  },
  handler: (ctx, { body }) => badgeWidget.save(ctx, body),
})
