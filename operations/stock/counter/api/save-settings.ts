import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { counterInput, counterReadOnly, stockCounterSettings } from '../schema.ts'
import { stockCounter } from '../settings.ts'

export default operation({
  method: 'POST',
  path: '/stock-counter/settings',
  description: 'Change the settings of the stock counter. Fields left out keep their value.',
  details: 'Products and categories that are new must be known to the platform.',
  words: 'show how few units are left, only 3 left, scarcity',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'stock-alerts',
  transaction: 'own',
  input: { body: writeBody(counterInput, counterReadOnly) },
  answer: { status: 200, body: stockCounterSettings },
  refuses: { conflict: 'A product or category is new and no ecommerce platform is connected' },
  etag: true,
  example: { body: { isEnabled: true, threshold: 5 } },
  handler: (ctx, { body }) => stockCounter.save(ctx, body),
})
