import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { searchFilter, statusFilter } from '../../discounts/schema.ts'
import { listPromotions } from '../promotions.ts'
import { promotion } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/promotions',
  description: 'List the quantity promotions, newest first, and how the platform has each.',
  words: 'three for two deals, quantity discounts, which run',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'promotions',
  input: { query: object({ ...paging, status: statusFilter, search: searchFilter }) },
  answer: { status: 200, body: listOf(promotion) },
  handler: (ctx, { query }) => listPromotions(ctx, { ...query, now: ctx.now() }),
})
