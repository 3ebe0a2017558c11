import { sentMessage } from '#operations/messaging/index'
import { operation, z } from '#runtime/operation'
import { object, phone } from '#runtime/schema'
import { sendTest } from '../test-send.ts'

export default operation({
  method: 'POST',
  path: '/automations/:id/test',
  description: 'Send a message of an automation to one phone, to see how it reads.',
  details:
    'With the newest cart or order of the store and a made-up coupon code that no shop knows. It counts in the quota, not in the report; the automation may be off.',
  words: 'try the automation on my own phone',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'automations',
  input: {
    body: object({
      phone: phone.min(1),
      stepId: z
        .string()
        .min(1)
        .max(40)
        .nullable()
        .default(null)
        .describe('A message of the flow; null: the first'),
    }),
  },
  answer: { status: 201, body: sentMessage },
  refuses: {
    bad_request: 'phone is no phone number, or the step is no message',
    not_found: 'There is no such automation, or step',
    conflict: 'It cannot be sent: no connection, no usable message, opted out, or refused by the provider',
    forbidden: 'All messages of the cycle are used',
  },
  transaction: 'own',
  example: { body: { phone: '+5511988887777' } },
  handler: (ctx, { params, body }) => sendTest(ctx, params.id, body),
})
