import { operation } from '#runtime/operation'
import { changeAddress } from '../decisions.ts'
import { readRequest } from '../requests.ts'
import { addressBody, exchangeRequest } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-exchanges/requests/:id/address',
  description:
    'Change where the items of a request must be sent; once it is approved, the shopper is notified.',
  details:
    'Lines left out keep their value. The whole request may be sent back: all but the address is ignored.',
  words: 'send the return to another warehouse, other place for the parcel',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['messages'],
  feature: 'exchanges',
  input: { body: addressBody },
  answer: { status: 200, body: exchangeRequest },
  refuses: { not_found: 'No such request', conflict: 'It is neither requested nor approved' },
  etag: true,
  example: {
    body: {
      returnAddress: {
        recipient: 'Aurora Supply',
        street: 'Rua Augusta',
        number: '1500',
        city: 'São Paulo',
        state: 'SP',
        postalCode: '01304-001',
        country: 'BR',
      },
    },
  },
  async handler(ctx, { params, body }) {
    await changeAddress(ctx, params.id, body)
    return readRequest(ctx, params.id)
  },
})
