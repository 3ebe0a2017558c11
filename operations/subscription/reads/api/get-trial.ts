import { operation } from '#runtime/operation'
import { trial } from '../../schema.ts'
import { readTrial } from '../trial.ts'

export default operation({
  method: 'GET',
  path: '/subscription/trial',
  description: 'The free trial, its remaining days, and whether a payment failed recently.',
  words: 'days of my trial left, free period',
  scopes: ['platform:read'],
  readOnly: true,
  answer: { status: 200, body: trial },
  handler: (ctx) => readTrial(ctx),
})
