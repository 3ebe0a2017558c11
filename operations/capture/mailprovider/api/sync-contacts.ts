import { operation } from '#runtime/operation'
import { startSync, syncInput, syncQueued } from '../syncs.ts'

export default operation({
  method: 'POST',
  path: '/mailprovider/sync-contacts',
  description: 'Push the subscribers who consented to emails to a list of the connected email provider.',
  details:
    'Subscribers who left at the provider are not subscribed again there, and become `unsubscribed` here.',
  words: 'push subscribers to mailchimp, brevo, email tool',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'newsletter',
  input: { body: syncInput },
  answer: { status: 202, body: syncQueued },
  monitor: '/notifications?type=mailprovider-sync-completed,mailprovider-sync-failed',
  refuses: {
    conflict: 'No email provider is connected, no list is chosen, or a sync is queued or running',
  },
  transaction: 'own',
  example: { body: { mode: 'new' } },
  handler: (ctx, { body }) => startSync(ctx, body),
})
