import { operation } from '#runtime/operation'
import { changeBadge, readBadge } from '../badges.ts'
import { badge, changedBadge } from '../schema.ts'

export default operation({
  method: 'PUT',
  path: '/product-badges',
  description: 'Change a badge; what is left out keeps its value, and shoppers see it at once.',
  words: 'change a seal',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'product-content',
  input: { body: changedBadge },
  answer: { status: 200, body: badge },
  refuses: {
    not_found: 'There is no such badge',
    conflict: 'A new product or category is named, and no platform is connected; or others change the same',
    unavailable: 'A new product or category is named, and the platform does not answer',
  },
  etag: true,
  transaction: 'own',
  ifMatch: { read: (ctx, { body }) => readBadge(ctx, body.id) },
  example: { body: { id: '01939f2a-5a51-7aa3-9cf1-4f2f5b6a7c8d', text: 'Últimas {{stock}} unidades' } },
  async handler(ctx, { body: { id, ...change } }) {
    await changeBadge(ctx, id, change)
    return readBadge(ctx, id)
  },
})
