import { wiring } from '#runtime/wiring'
import { listenerOf } from './billing/events.ts'

export default wiring({
  providerEvents: {
    'billing:checkout': [listenerOf('checkout')],
    'billing:agreement': [listenerOf('agreement')],
    'billing:payment': [listenerOf('payment')],
  },
})
