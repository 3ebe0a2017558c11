import { operation } from '#runtime/operation'
import { deletePromotion, readPromotion } from '../promotions.ts'
import { promotion } from '../schema.ts'

export default operation({
  method: 'DELETE',
  path: '/promotions/:id',
  description: 'Delete a promotion: it is taken off the platform first.',
  words: 'throw a deal away',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'promotions',
  transaction: 'own',
  answer: { status: 204 },
  refuses: {
    not_found: 'There is no such promotion',
    conflict: 'Another change of it is being written, or the platform refuses',
    unavailable: 'The platform does not answer; the promotion stays',
  },
  ifMatch: { of: promotion, read: (ctx, { params }) => readPromotion(ctx, params.id) },
  handler: (ctx, { params }) => deletePromotion(ctx, params.id),
})
