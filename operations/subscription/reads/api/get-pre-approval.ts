import { operation } from '#runtime/operation'
import { preApproval } from '../../schema.ts'
import { readPreApproval } from '../pre-approval.ts'

export default operation({
  method: 'GET',
  path: '/subscription/pre-approval',
  description: 'The recurring payment agreement, read live from the payment provider.',
  words: 'my agreement with the payment provider, card on file',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: preApproval },
  refuses: { not_found: 'There never was an agreement' },
  transaction: 'own',
  handler: (ctx) => readPreApproval(ctx),
})
