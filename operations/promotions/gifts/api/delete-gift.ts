import { operation } from '#runtime/operation'
import { deleteGift, readGift } from '../gifts.ts'
import { cartGift } from '../schema.ts'

export default operation({
  method: 'DELETE',
  path: '/cart-gifts/:id',
  description: 'Delete a cart gift: it is taken off the platform first.',
  words: 'throw a giveaway away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'cart-gifts',
  transaction: 'own',
  answer: { status: 204 },
  refuses: {
    not_found: 'There is no such cart gift',
    conflict: 'Another change of it is being written, or the platform refuses',
    unavailable: 'The platform does not answer; the gift stays',
  },
  ifMatch: { of: cartGift, read: (ctx, { params }) => readGift(ctx, params.id) },
  handler: (ctx, { params }) => deleteGift(ctx, params.id),
})
