import { operation, z } from '#runtime/operation'
import { currency, listOf, object, paging, queryInt } from '#runtime/schema'
import { conversion, range, sourceType, statusFilter } from '../../schema.ts'
import { listConversions } from '../conversions.ts'

export default operation({
  method: 'GET',
  path: '/conversions',
  description: 'List the orders that messages of one source brought about, newest first.',
  details: 'By the day the order was placed; at most 731 days.',
  words: 'sales brought by messages, attributed orders',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'statistics',
  input: {
    query: object({
      ...paging,
      limit: queryInt(1, 500).default(20).describe('Rows a page, at most 500'),
      sourceType: sourceType.describe('Only orders attributed to this feature'),
      ...range,
      status: statusFilter,
      currency: currency.optional().describe('All unless said'),
      sourceId: z.string().max(100).optional().describe('One automation, campaign or subscription'),
    }),
  },
  answer: { status: 200, body: listOf(conversion) },
  example: { query: { sourceType: 'messaging-campaign' } },
  handler: (ctx, { query }) => listConversions(ctx, query),
})
