import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { createGift, readGift } from '../gifts.ts'
import { cartGift, giftReadOnly, newGiftInput } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/cart-gifts',
  description: 'Create a gift for carts from an amount on; the platform gives it at checkout.',
  details:
    'Unless it is paused it is on the platform when this answers 201, and nowhere when it answers anything else. At most 20 are active or scheduled at a time.',
  words: 'free mug for orders above an amount, giveaway',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'cart-gifts',
  transaction: 'own',
  input: { body: writeBody(newGiftInput, giftReadOnly, ['name', 'minAmount', 'gift']) },
  answer: { status: 201, body: cartGift },
  refuses: {
    conflict:
      'The name is taken, there are too many, no platform is connected, or the platform cannot apply it or refuses it',
    unavailable: 'The platform does not answer; nothing was created',
  },
  etag: true,
  example: { body: { name: 'Brinde acima de 150', minAmount: 150, gift: { productId: '1002' } } },
  async handler(ctx, { body }) {
    return readGift(ctx, await createGift(ctx, body))
  },
})
