import { operation } from '#runtime/operation'
import { message } from '../../schema.ts'
import { queueMessage, readMessage } from '../send.ts'
import { sendInput } from '../send-schema.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/messages',
  description: 'Answer a contact, through the official number.',
  details:
    'While the window is open anything may be sent, afterwards approved templates only. Messages of a conversation leave in the order they were asked for.',
  words: 'answer a customer in the chat, reply, send a picture',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: { body: sendInput },
  answer: { status: 201, body: message },
  refuses: {
    not_found: 'There is no such conversation, template, quick reply or replied message',
    conflict: 'The inbox is off, the window closed, the template not approved, or the clientId used already',
    forbidden: 'No messages are left in this cycle',
  },
  example: { body: { type: 'text', text: 'Hi Rita, your order left this morning.', clientId: 'web-8f1c' } },
  async handler(ctx, { params, body }) {
    return readMessage(ctx, await queueMessage(ctx, params.id, body))
  },
})
