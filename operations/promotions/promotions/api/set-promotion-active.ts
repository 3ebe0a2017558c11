import { operation } from '#runtime/operation'
import { activeInput } from '../../discounts/schema.ts'
import { readPromotion, setPromotionActive } from '../promotions.ts'
import { promotion } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/promotions/:id/active',
  description: 'Activate a promotion, or pause it: it is put on the platform, or taken off.',
  details: 'The state it has already changes nothing, so that a retry is safe.',
  words: 'turn a deal on or off',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'promotions',
  transaction: 'own',
  input: { body: activeInput },
  answer: { status: 200, body: promotion },
  refuses: {
    not_found: 'There is no such promotion',
    conflict:
      'It has ended, nothing it is for exists any more, 25 are active or scheduled, another change is being written, or the platform refuses it',
    unavailable: 'The platform does not answer; nothing was changed',
  },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readPromotion(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await setPromotionActive(ctx, params.id, body.isActive)
    return readPromotion(ctx, params.id)
  },
})
