import { operation } from '#runtime/operation'
import { count, currency, instant, money, object, wholeListOf } from '#runtime/schema'
import { readRecoveredTotal } from '../summary.ts'

export default operation({
  method: 'GET',
  path: '/conversions/recovered-total',
  description: 'Read everything that messages brought back since the store joined, by currency.',
  words: 'money brought back, recovered carts, how much did the messages earn in all',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'statistics',
  answer: {
    status: 200,
    body: wholeListOf(object({ currency, orders: count, revenue: money })).extend({ since: instant }),
  },
  handler: readRecoveredTotal,
})
