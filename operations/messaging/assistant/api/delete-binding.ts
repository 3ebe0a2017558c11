import { operation } from '#runtime/operation'
import { deleteBinding } from '../bindings.ts'

export default operation({
  method: 'DELETE',
  path: '/chat-agent/bindings/:phone',
  description: 'Unpair a phone from the assistant.',
  words: 'unpair a phone from the assistant',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  answer: { status: 204 },
  refuses: { not_found: 'The phone is not paired with this store' },
  handler: (ctx, { params }) => deleteBinding(ctx, params.phone),
})
