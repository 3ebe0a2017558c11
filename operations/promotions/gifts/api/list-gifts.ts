import { operation } from '#runtime/operation'
import { listOf, object, paging, z } from '#runtime/schema'
import { listGifts } from '../gifts.ts'
import { cartGift } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/cart-gifts',
  description: 'List the cart gifts, lowest amount first, with the state of each gift.',
  words: 'free gifts for big orders, which run',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'cart-gifts',
  input: {
    query: object({
      ...paging,
      status: z
        .enum(['active', 'scheduled', 'paused', 'ended', 'exhausted'])
        .optional()
        .describe('Only gifts with this state'),
    }),
  },
  answer: { status: 200, body: listOf(cartGift) },
  handler: (ctx, { query }) => listGifts(ctx, { ...query, now: ctx.now() }),
})
