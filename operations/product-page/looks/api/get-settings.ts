import { operation } from '#runtime/operation'
import { lookSettings } from '../schema.ts'
import { lookWidget } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/shop-the-look/settings',
  description: 'Show how the storefront presents looks; the defaults until somebody saves them.',
  words: 'how outfits are shown',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'shop-the-look',
  answer: { status: 200, body: lookSettings },
  etag: true,
  handler: (ctx) => lookWidget.read(ctx),
})
