import { operation } from '#runtime/operation'
import { activeInput } from '../../discounts/schema.ts'
import { readGift, setGiftActive } from '../gifts.ts'
import { cartGift } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/cart-gifts/:id/active',
  description: 'Activate a cart gift, or pause it: it is put on the platform, or taken off.',
  details: 'The state it has already changes nothing, so that a retry is safe.',
  words: 'turn a giveaway on or off',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'cart-gifts',
  transaction: 'own',
  input: { body: activeInput },
  answer: { status: 200, body: cartGift },
  refuses: {
    not_found: 'There is no such cart gift',
    conflict:
      'It has ended or is used up, its product does not exist any more, 20 are active or scheduled, another change is being written, or the platform refuses it',
    unavailable: 'The platform does not answer; nothing was changed',
  },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readGift(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await setGiftActive(ctx, params.id, body.isActive)
    return readGift(ctx, params.id)
  },
})
