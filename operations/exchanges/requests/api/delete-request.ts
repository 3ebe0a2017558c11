import { operation } from '#runtime/operation'
import { deleteRequest } from '../delete.ts'

export default operation({
  method: 'DELETE',
  path: '/product-exchanges/requests/:id',
  description: 'Delete a request with its photos and history; nobody is notified.',
  details: 'The units of a completed one stay used. One that is under way is rejected or completed first.',
  words: 'throw a return away, remove a test request',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'exchanges',
  answer: { status: 204 },
  refuses: { not_found: 'No such request', conflict: 'It is approved, in transit or received' },
  handler: (ctx, { params }) => deleteRequest(ctx, params.id),
})
