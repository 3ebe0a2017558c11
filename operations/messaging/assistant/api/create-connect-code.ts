import { operation } from '#runtime/operation'
import { createConnectCode } from '../codes.ts'
import { connectCode, connectCodeInput } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/chat-agent/connect-code',
  description:
    'Make a code that pairs a phone with the assistant, for ten minutes. It ends your earlier one.',
  words: 'pair my phone with the assistant, manage the store by chat',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'chat-agent',
  input: { body: connectCodeInput },
  answer: { status: 201, body: connectCode },
  refuses: {
    conflict:
      'Ten phones are paired, ten codes were made in the last hour, the phone is paired already, or this server has no assistant',
  },
  example: { body: { name: 'Olivia', phone: '+5511988887777' } },
  handler: (ctx, { body }) => createConnectCode(ctx, body),
})
