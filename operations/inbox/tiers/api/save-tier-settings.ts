import { operation } from '#runtime/operation'
import { tierRules, tierSettings, tierSettingsInput } from '../settings.ts'

export default operation({
  method: 'PUT',
  path: '/inbox/tier-settings',
  description: 'Change the buying tiers. Every contact is then recalculated.',
  details:
    'Tiers are given lowest first: from each to the next no threshold may fall, and one at least must rise. What is left out keeps its value.',
  words: 'set the rules for VIP customers, bronze, silver, gold, platinum',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'member',
  feature: 'inbox',
  input: { body: tierSettingsInput },
  answer: { status: 200, body: tierSettings },
  etag: true,
  example: {
    body: {
      match: 'any',
      tiers: [
        { key: 'regular', name: 'Regular', color: '#6b7280', minPurchases: 2, minAmount: null },
        { key: 'best', name: 'Best', color: '#ca8a04', minPurchases: 8, minAmount: 2000 },
      ],
    },
  },
  handler: (ctx, { body }) => tierRules.save(ctx, body),
})
