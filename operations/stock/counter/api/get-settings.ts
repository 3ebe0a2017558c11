import { operation } from '#runtime/operation'
import { stockCounterSettings } from '../schema.ts'
import { stockCounter } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/stock-counter/settings',
  description: 'Get the settings of the stock counter; the defaults until they are saved.',
  words: 'only a few left, urgency by low stock',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'stock-alerts',
  answer: { status: 200, body: stockCounterSettings },
  etag: true,
  handler: (ctx) => stockCounter.read(ctx),
})
