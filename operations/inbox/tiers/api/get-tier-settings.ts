import { operation } from '#runtime/operation'
import { tierRules, tierSettings } from '../settings.ts'

export default operation({
  method: 'GET',
  path: '/inbox/tier-settings',
  description: 'Show the buying tiers, and how many contacts each has.',
  words: 'rules for VIP customers, bronze, silver, gold, platinum',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  answer: { status: 200, body: tierSettings },
  etag: true,
  handler: (ctx) => tierRules.read(ctx),
})
