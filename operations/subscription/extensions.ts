import { extensions } from '#runtime/extensions'
import { buildListener } from './billing/events.ts'
import { billingKind } from './provider/connection.ts'
import { billingPort } from './provider/open.ts'

export default extensions({
  ports: { billing: billingPort },
  serverKinds: { billing: billingKind },
  providerEvents: {
    'billing:checkout': [buildListener('checkout')],
    'billing:agreement': [buildListener('agreement')],
    'billing:payment': [buildListener('payment')],
  },
})
