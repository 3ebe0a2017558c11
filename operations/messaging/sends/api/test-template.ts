import { operation } from '#runtime/operation'
import { object } from '#runtime/schema'
import { sendInput, sentMessage, templateParameters } from '../schema.ts'
import { testTemplate } from '../template-test.ts'

export default operation({
  method: 'POST',
  path: '/messaging/templates/:id/test',
  description: 'Send a template to one phone through the official number, whichever number is selected.',
  details: 'Its examples fill what is not given. It counts as a message.',
  words: 'send myself a template, try it',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  input: {
    body: object({ phone: sendInput.phone, templateParameters: templateParameters.nullable().optional() }),
  },
  answer: { status: 201, body: sentMessage },
  refuses: {
    not_found: 'There is no such template',
    conflict: 'It is not approved, the official number cannot send, or the phone cannot be written to',
    forbidden: 'No message is left in the cycle',
  },
  example: { params: { id: '12' }, body: { phone: '+5511988887777' } },
  handler: (ctx, { params, body }) => testTemplate(ctx, params.id, body),
})
