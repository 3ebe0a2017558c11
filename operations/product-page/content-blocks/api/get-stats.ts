import { operation } from '#runtime/operation'
import { day, object } from '#runtime/schema'
import { blockStats } from '../schema.ts'
import { readBlockStatistics } from '../stats.ts'

export default operation({
  method: 'GET',
  path: '/product-content-blocks/stats',
  description: 'Show how often shoppers saw and clicked each content block, in all and by day.',
  details: 'The last 30 days unless you say otherwise, at most 365. Every block and every day is listed.',
  words: 'how often are faq and banners seen and clicked',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'product-content',
  input: { query: object({ startDate: day.optional(), endDate: day.optional() }) },
  answer: { status: 200, body: blockStats },
  handler: (ctx, { query }) => readBlockStatistics(ctx, query),
})
