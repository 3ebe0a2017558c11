import { sending } from '#operations/messaging/lib/door'
import { members } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import { releaseMember } from './lib/conversations.ts'
import { applyCallback, recordOutbound } from './lib/outbound.ts'
import { receive } from './lib/receive.ts'

export default wiring(() => {
  members.onRemoved(releaseMember)
  sending.onInbound(receive)
  sending.onAccepted(recordOutbound)
  sending.onEveryStatus(applyCallback)
})
