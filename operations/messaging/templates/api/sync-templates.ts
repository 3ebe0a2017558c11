import { operation } from '#runtime/operation'
import { count, instant, object } from '#runtime/schema'
import { syncTemplates } from '../sync.ts'

export default operation({
  method: 'POST',
  path: '/messaging/templates/sync',
  description: 'Bring the templates to what the provider has: it is right about each of them.',
  words: 'fetch templates from the provider again, refresh their states',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  answer: {
    status: 200,
    body: object({ added: count, updated: count, removed: count, unchanged: count, syncedAt: instant }),
  },
  refuses: { conflict: 'No official number is connected, or a sync is running' },
  handler: (ctx) => syncTemplates(ctx),
})
