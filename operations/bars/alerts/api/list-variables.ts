import { operation } from '#runtime/operation'
import { object, wholeListOf, z } from '#runtime/schema'
import { alertType } from '../schema.ts'
import { listVariables } from '../types.ts'

export default operation({
  method: 'GET',
  path: '/fomo-alerts/variables',
  description: 'List the variables that the texts of alerts know, or those of one type.',
  words: 'words I can use in live alerts',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'fomo-alerts',
  input: { query: object({ alertType: alertType.optional().describe('Only the variables of this type') }) },
  answer: {
    status: 200,
    body: wholeListOf(
      object({
        name: z.string(),
        description: z.string(),
        example: z.string(),
        alertTypes: z.array(alertType).describe('Types that support it'),
      }),
    ),
  },
  handler: (_ctx, { query }) => ({ data: listVariables(query.alertType) }),
})
