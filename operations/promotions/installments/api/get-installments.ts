import { operation } from '#runtime/operation'
import { object, z } from '#runtime/schema'
import { readInstallments } from '../installments.ts'
import { amountFilter, installmentRule, installmentSettings, simulation } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/installments',
  description: 'List the rules of installments, lowest amount first, and what an amount comes to by them.',
  words: 'pay in parts, monthly, instalments',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'installments',
  input: { query: object({ amount: amountFilter }) },
  answer: {
    status: 200,
    body: object({
      data: z.array(installmentRule),
      settings: installmentSettings,
      simulation: simulation.nullable().describe('Null without amount'),
    }),
  },
  handler: (ctx, { query }) => readInstallments(ctx, query.amount),
})
