import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { createPromotion, readPromotion } from '../promotions.ts'
import { promotion, promotionInput, promotionReadOnly } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/promotions',
  description:
    'Create a quantity promotion, such as 3 for the price of 2; the platform applies it at checkout.',
  details:
    'Unless it is paused it is on the platform when this answers 201, and nowhere when it answers anything else. At most 25 are active or scheduled at a time.',
  words: 'three for the price of two, buy one get one, quantity deal',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'promotions',
  transaction: 'own',
  input: { body: writeBody(promotionInput, promotionReadOnly, ['name', 'buyQuantity', 'payQuantity']) },
  answer: { status: 201, body: promotion },
  refuses: {
    conflict:
      'The name is taken, there are too many, no platform is connected, or the platform cannot apply it or refuses it',
    unavailable: 'The platform does not answer; nothing was created',
  },
  etag: true,
  example: { body: { name: 'Leve 3, pague 2', buyQuantity: 3, payQuantity: 2 } },
  async handler(ctx, { body }) {
    return readPromotion(ctx, await createPromotion(ctx, body))
  },
})
