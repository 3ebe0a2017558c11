import { operation } from '#runtime/operation'
import { id, object, queued, z } from '#runtime/schema'
import { triggerAutomation } from '../trigger.ts'

export default operation({
  method: 'POST',
  path: '/inbox/conversations/:id/automations/trigger',
  description: 'Send the first message of an automation to a contact now.',
  details:
    'Without delay, quiet hours, conditions and further steps, through the official number. It counts in the reports of the automation.',
  words: 'start an automation for this customer by hand',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  input: {
    body: object({
      automationId: id,
      orderId: z.string().min(1).max(100).optional().describe('The newest order, or cart, unless said'),
    }),
  },
  answer: {
    status: 202,
    body: queued({
      executionId: id,
      messageId: id,
      warning: z
        .string()
        .optional()
        .describe(
          'Only if the message hardly suits its order, which is for example cancelled or paid already',
        ),
    }),
  },
  monitor: '/inbox/conversations/:id/messages',
  refuses: {
    not_found: 'There is no such conversation or automation, or the order is not of this contact',
    conflict: 'The inbox is off, the automation is not active or cannot be sent to this contact now',
    forbidden: 'No messages are left in this cycle',
  },
  handler: (ctx, { params, body }) => triggerAutomation(ctx, params.id, body),
})
