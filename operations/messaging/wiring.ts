import { events } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import { applyInbound, applyStatuses, findStores } from './lib/callbacks.ts'

export default wiring(() => {
  events.on('messaging', 'status', applyStatuses)
  events.on('messaging', 'inbound', applyInbound)
  events.onUnassigned('messaging', findStores)
})
