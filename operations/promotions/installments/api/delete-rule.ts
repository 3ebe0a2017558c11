import { operation } from '#runtime/operation'
import { deleteRule, readRule } from '../installments.ts'
import { installmentRule } from '../schema.ts'

export default operation({
  method: 'DELETE',
  path: '/installments/:id',
  description: 'Delete a rule of installments.',
  words: 'no instalments any more',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'installments',
  answer: { status: 204 },
  refuses: { not_found: 'There is no such rule' },
  ifMatch: { of: installmentRule, read: (ctx, { params }) => readRule(ctx, params.id) },
  handler: (ctx, { params }) => deleteRule(ctx, params.id),
})
