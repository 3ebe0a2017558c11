import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { changePromotion, readPromotion } from '../promotions.ts'
import { promotion, promotionInput, promotionReadOnly } from '../schema.ts'

const { isActive: _ownOperation, ...writable } = promotionInput

export default operation({
  method: 'PATCH',
  path: '/promotions/:id',
  description: 'Change a promotion, on the platform too where it is active or scheduled.',
  details:
    'What is left out keeps its value. isActive is accepted and ignored: it has an operation of its own. After a 503 the promotion is as before, pending until the platform is brought back to it.',
  words: 'change a deal',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'promotions',
  transaction: 'own',
  input: { body: writeBody(writable, [...promotionReadOnly, 'isActive']) },
  answer: { status: 200, body: promotion },
  refuses: {
    not_found: 'There is no such promotion',
    conflict:
      'The name is taken, there are too many, another change of it is being written, or the platform refuses it',
    unavailable: 'The platform does not answer; nothing was changed',
  },
  etag: true,
  ifMatch: { read: (ctx, { params }) => readPromotion(ctx, params.id) },
  async handler(ctx, { params, body }) {
    await changePromotion(ctx, params.id, body)
    return readPromotion(ctx, params.id)
  },
})
