import { operation } from '#runtime/operation'
import { deleteAutomation } from '../save.ts'

export default operation({
  method: 'DELETE',
  path: '/automations/:id',
  description: 'Delete an automation; its scheduled messages are cancelled.',
  details: 'Messages that left, and sales attributed to them, stay and keep its name.',
  words: 'throw an automatic message away',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'automations',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such automation' },
  handler: (ctx, { params }) => deleteAutomation(ctx, params.id),
})
