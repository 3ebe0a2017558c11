import { events } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import { listenerOf } from './billing/events.ts'

export default wiring(() => {
  for (const kind of ['checkout', 'agreement', 'payment'] as const) {
    events.on('billing', kind, listenerOf(kind))
  }
})
