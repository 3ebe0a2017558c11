import { operation } from '#runtime/operation'
import { rejectRequest } from '../decisions.ts'
import { readRequest } from '../requests.ts'
import { exchangeRequest, rejectBody } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/product-exchanges/requests/:id/reject',
  description: 'Reject a request with a reason that the shopper reads; its units can be asked for again.',
  details: 'Not while the items are in transit: wait until they arrive.',
  words: 'say no to the return, refuse the exchange, deny a refund, too late',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['messages'],
  feature: 'exchanges',
  input: { body: rejectBody },
  answer: { status: 200, body: exchangeRequest },
  refuses: { not_found: 'No such request', conflict: 'Its status does not allow that' },
  etag: true,
  example: { body: { reason: 'The item was worn', code: 'failed-inspection' } },
  async handler(ctx, { params, body }) {
    await rejectRequest(ctx, params.id, body)
    return readRequest(ctx, params.id)
  },
})
