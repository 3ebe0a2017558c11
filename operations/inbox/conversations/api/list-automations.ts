import { operation } from '#runtime/operation'
import { object, paging } from '#runtime/schema'
import { automationsPage, listAutomations } from '../contact-activity.ts'

export default operation({
  method: 'GET',
  path: '/inbox/conversations/:id/automations',
  description: 'List what automations sent to a contact, or are going to send, newest first.',
  words: 'which automatic messages did this customer get',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: { query: object(paging) },
  answer: { status: 200, body: automationsPage },
  refuses: { not_found: 'There is no such conversation' },
  handler: (ctx, { params, query }) => listAutomations(ctx, params.id, query),
})
