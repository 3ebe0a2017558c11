import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { sendInput, sendReadOnly, sentMessage } from '../schema.ts'
import { sendFromInput } from '../send.ts'

export default operation({
  method: 'POST',
  path: '/messaging/send-message',
  description: 'Send one message to one phone, through the selected number.',
  details:
    'Over the official number a text or a file goes to who wrote in the last 24 hours; anybody else gets an approved ' +
    'template. `queued`: the provider was silent; what becomes of it is settled in the background.',
  words: 'text this one customer now, write one person a text, her parcel is late, tell a client',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'messaging',
  transaction: 'own',
  input: { body: writeBody(sendInput, sendReadOnly, ['phone']) },
  answer: { status: 201, body: sentMessage },
  refuses: {
    not_found: 'There is no such template',
    conflict:
      'No connection, or one that cannot carry it; the template is not approved; the phone is opted out, wrote too long ago, or is beyond the number limit; the provider refused it',
    forbidden: 'No message is left in the cycle, or the plan does not include the official number',
  },
  example: { body: { phone: '+5511988887777', text: 'Oi Ana, seu pedido chegou?' } },
  handler: (ctx, { body }) => sendFromInput(ctx, body),
})
