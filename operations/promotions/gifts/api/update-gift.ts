import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { changeGift, readGift } from '../gifts.ts'
import { cartGift, giftInput, giftReadOnly } from '../schema.ts'

const { isActive: _ownOperation, ...writable } = giftInput

export default operation({
  method: 'PATCH',
  path: '/cart-gifts/:id',
  description: 'Change a cart gift, on the platform too where it is active or scheduled.',
  details:
    'What is left out keeps its value; another gift.productId without its variantId clears the old variant. isActive is accepted and ignored: it has an operation of its own. After a 503 the gift is as before, pending until the platform is brought back to it.',
  words: 'change a giveaway',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'cart-gifts',
  transaction: 'own',
  input: { body: writeBody(writable, [...giftReadOnly, 'isActive']) },
  answer: { status: 200, body: cartGift },
  refuses: {
    not_found: 'There is no such cart gift',
    conflict:
      'The name is taken, there are too many, another change of it is being written, or the platform refuses it',
    unavailable: 'The platform does not answer; nothing was changed',
  },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readGift(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await changeGift(ctx, params.id, body)
    return readGift(ctx, params.id)
  },
})
