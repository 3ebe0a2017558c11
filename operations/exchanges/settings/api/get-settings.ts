import { operation } from '#runtime/operation'
import { exchangeSettings } from '../schema.ts'
import { exchangeRules } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/product-exchanges/settings',
  description: 'Get how the store takes exchanges and returns; the defaults until it was first saved.',
  words: 'return policy, how many days to return, exchange rules',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'exchanges',
  answer: { status: 200, body: exchangeSettings },
  etag: true,
  handler: (ctx) => exchangeRules.read(ctx),
})
