import { operation } from '#runtime/operation'
import { confirmRequest } from '../decisions.ts'
import { readRequest } from '../requests.ts'
import { confirmBody, exchangeRequest } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/product-exchanges/requests/:id/confirm',
  description:
    'Record that the items of a request have come back, or that the exchange or return is complete.',
  details:
    'Nothing changes at the platform: this records what was done there. Stage received means that the items have arrived, completed that everything is done. The shopper is notified. The refund is at most what the order, read from the platform now, has left; if nothing is left because this return was refunded there already, send `refundAmount` 0.',
  words: 'the parcel came back, money was given back, finish the return, done',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['messages'],
  feature: 'exchanges',
  input: { body: confirmBody },
  answer: { status: 200, body: exchangeRequest },
  refuses: {
    not_found: 'No such request',
    conflict: 'Its status does not allow that, or the order has less left to refund',
  },
  etag: true,
  transaction: 'own',
  example: { body: { stage: 'received' } },
  async handler(ctx, { params, body }) {
    await confirmRequest(ctx, params.id, body)
    return readRequest(ctx, params.id)
  },
})
