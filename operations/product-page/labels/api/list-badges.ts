import { operation } from '#runtime/operation'
import { listOf, object, paging, queryFlag } from '#runtime/schema'
import { badgeSettings } from '../badge-settings.ts'
import { listBadges } from '../badges.ts'
import { badge } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-badges',
  description: 'List the badges of products, lowest priority first, then newest, and how they are shown.',
  words: 'trust seals, featured price',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'product-content',
  input: {
    query: object({
      ...paging,
      isActive: queryFlag.optional().describe('true: only active badges; false: only the others'),
    }),
  },
  answer: { status: 200, body: listOf(badge).extend({ settings: badgeSettings }) },
  handler: (ctx, { query }) => listBadges(ctx, query),
})
