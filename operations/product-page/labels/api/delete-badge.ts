import { operation } from '#runtime/operation'
import { deleteBadge, readBadge } from '../badges.ts'
import { badge } from '../schema.ts'

export default operation({
  method: 'DELETE',
  path: '/product-badges/:id',
  description: 'Delete a badge; shoppers do not see it any more.',
  words: 'throw a seal away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such badge' },
  ifMatch: { of: badge, read: (ctx, { params }) => readBadge(ctx, params.id) },
  handler: (ctx, { params }) => deleteBadge(ctx, params.id),
})
