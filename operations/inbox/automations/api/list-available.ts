import { operation } from '#runtime/operation'
import { object, wholeListOf, z } from '#runtime/schema'
import { availableAutomation, listAvailable } from '../trigger.ts'

export default operation({
  method: 'GET',
  path: '/inbox/automations/available',
  description: 'List the active automations, and whether each could be sent to a contact now.',
  words: 'automatic messages I can start by hand',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'inbox',
  input: {
    query: object({
      conversationId: z
        .string()
        .max(100)
        .optional()
        .describe('The conversation in which the automation would start'),
    }),
  },
  answer: { status: 200, body: wholeListOf(availableAutomation) },
  refuses: { not_found: 'There is no such conversation' },
  handler: (ctx, { query }) => listAvailable(ctx, query.conversationId),
})
