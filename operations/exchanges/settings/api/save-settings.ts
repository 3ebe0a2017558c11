import { operation } from '#runtime/operation'
import { exchangeSettings, exchangeSettingsInput } from '../schema.ts'
import { exchangeRules } from '../settings.ts'

export default operation({
  method: 'POST',
  path: '/product-exchanges/settings',
  description: 'Change how the store takes exchanges and returns. Fields left out keep their value.',
  details:
    'Lists are replaced whole. A method that ships (customer-ships, prepaid-label) needs a returnAddress before exchanges are turned on. New windows hold for requests made from now on.',
  words: 'change the return policy, turn exchanges on or off, return address, reasons for returns',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'exchanges',
  transaction: 'own',
  input: { body: exchangeSettingsInput },
  answer: { status: 200, body: exchangeSettings },
  refuses: { conflict: 'Products or categories are named and no ecommerce platform is connected' },
  etag: true,
  example: { body: { windowDays: 30, types: ['exchange', 'return'], autoApprove: false } },
  handler: (ctx, { body }) => exchangeRules.save(ctx, body),
})
