import { operation } from '#runtime/operation'
import { listBindings } from '../bindings.ts'
import { bindings } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/chat-agent/bindings',
  description: 'List the phones that are paired with the assistant, newest first.',
  words: 'phones paired with the assistant',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: bindings },
  handler: (ctx) => listBindings(ctx),
})
