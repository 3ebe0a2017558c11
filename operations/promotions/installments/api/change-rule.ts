import { operation } from '#runtime/operation'
import { writeBody, z } from '#runtime/schema'
import { changeRule, readRule } from '../installments.ts'
import { installmentRule, ruleInput } from '../schema.ts'

export default operation({
  method: 'PUT',
  path: '/installments',
  description: 'Change a rule of installments; what is left out keeps its value.',
  words: 'change how people pay in instalments',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'installments',
  input: { body: writeBody({ id: z.string().max(64), ...ruleInput }, ['createdAt', 'updatedAt'], ['id']) },
  answer: { status: 200, body: installmentRule },
  refuses: {
    not_found: 'There is no such rule',
    conflict: 'Its amounts overlap those of an active rule',
  },
  etag: true,
  ifMatch: { read: (ctx, { body }) => readRule(ctx, body.id) },
  handler: (ctx, { body: { id, ...change } }) => changeRule(ctx, id, change),
})
