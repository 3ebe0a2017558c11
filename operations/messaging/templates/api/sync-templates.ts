import { operation } from '#runtime/operation'
import { count, instant, object } from '#runtime/schema'
import { syncTemplates } from '../sync.ts'

export default operation({
  method: 'POST',
  path: '/messaging/templates/sync',
  description: "Synchronize the templates with the provider's, which are authoritative.",
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
