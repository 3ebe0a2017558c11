import { operation } from '#runtime/operation'
import { cancelDispatches } from '../dispatches.ts'
import { cancelled, dispatchTargets } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/dispatches/cancel',
  description: 'Cancel scheduled requests for reviews; nobody is ever asked about those items again.',
  details:
    'Give either ids or all. One that is not scheduled any more is a conflict in data; all answers no data.',
  words: 'do not ask this buyer for an opinion',
  scopes: ['platform:write'],
  readOnly: false,
  consequences: ['final'],
  feature: 'reviews',
  input: { body: dispatchTargets },
  answer: { status: 200, body: cancelled },
  example: { body: { ids: ['01934567-89ab-7cde-8f01-23456789abcd'] } },
  handler: (ctx, { body }) => cancelDispatches(ctx, body),
})
