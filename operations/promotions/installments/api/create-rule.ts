import { operation } from '#runtime/operation'
import { writeBody } from '#runtime/schema'
import { createRule } from '../installments.ts'
import { installmentRule, ruleInput, ruleReadOnly } from '../schema.ts'

export default operation({
  method: 'POST',
  path: '/installments',
  description: 'Create a rule of installments for amounts from minAmount to below maxAmount.',
  words: 'let people pay in 12 instalments, parts, monthly',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'installments',
  input: { body: writeBody(ruleInput, ruleReadOnly, ['name', 'maxInstallments']) },
  answer: { status: 201, body: installmentRule },
  refuses: { conflict: 'Its amounts overlap those of an active rule, or there are 50 rules' },
  etag: true,
  example: {
    body: {
      name: 'Cartão de crédito',
      minAmount: 100,
      maxAmount: 1000,
      maxInstallments: 6,
      interestFreeInstallments: 3,
      monthlyInterestRate: 2.99,
    },
  },
  handler: (ctx, { body }) => createRule(ctx, body),
})
