import { wiring } from '#runtime/wiring'
import { listenerOf } from './billing/events.ts'
import { billingKind } from './provider/connection.ts'
import { billingPort } from './provider/open.ts'

export default wiring({
  ports: { billing: billingPort },
  serverKinds: { billing: billingKind },
  providerEvents: {
    'billing:checkout': [listenerOf('checkout')],
    'billing:agreement': [listenerOf('agreement')],
    'billing:payment': [listenerOf('payment')],
  },
})
