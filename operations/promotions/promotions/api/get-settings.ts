import { operation } from '#runtime/operation'
import { promotionSettings, promotionWidget } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/promotions/settings',
  description: 'Show how the storefront presents promotions; the defaults until somebody saves them.',
  words: 'how deals are shown',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'promotions',
  answer: { status: 200, body: promotionSettings },
  etag: true,
  handler: (ctx) => promotionWidget.read(ctx),
})
