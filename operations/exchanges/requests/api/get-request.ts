import { operation } from '#runtime/operation'
import { readRequest } from '../requests.ts'
import { exchangeRequest } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-exchanges/requests/:id',
  description: 'Get one request with its items, photos and all that happened to it.',
  details: "The photos' addresses hold for an hour.",
  words: 'why does the customer want to send it back, pictures of the damage, where is the return',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'exchanges',
  answer: { status: 200, body: exchangeRequest },
  refuses: { not_found: 'No such request' },
  etag: true,
  handler: (ctx, { params }) => readRequest(ctx, params.id),
})
