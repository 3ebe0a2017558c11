import { operation } from '#runtime/operation'
import { approveRequest } from '../decisions.ts'
import { readRequest } from '../requests.ts'
import { approvalBody, exchangeRequest } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/product-exchanges/requests/:id/approve',
  description: 'Approve a request, whole or in part; the shopper is notified where to send the items.',
  details:
    'Items left out keep their full quantity; units that are not approved can be asked for again. A method that ships needs an address. The amount is at most what the order, read from the platform now, has left after refunds and other requests: `amountReason` says why it is less.',
  words: 'accept the return, say yes to the exchange, let them send it back, return label',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['messages'],
  feature: 'exchanges',
  input: { body: approvalBody },
  answer: { status: 200, body: exchangeRequest },
  refuses: {
    not_found: 'No such request',
    conflict:
      'It does not wait for a decision, its method ships and there is no address, or the order has nothing left to refund',
  },
  etag: true,
  transaction: 'own',
  example: { body: { returnCode: 'RMA-4711', note: 'Approved after the photos' } },
  async handler(ctx, { params, body }) {
    await approveRequest(ctx, params.id, body)
    return readRequest(ctx, params.id)
  },
})
