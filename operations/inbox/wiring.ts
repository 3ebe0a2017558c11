import { optOuts } from '#operations/campaigns/lib/door'
import { onOfficialDisconnected, sending } from '#operations/messaging/lib/door'
import { exports, members, orders } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import { moveConversations } from './lib/contacts.ts'
import { releaseMember } from './lib/conversations.ts'
import { receiveEcho } from './lib/echo.ts'
import { inboxExport } from './lib/export.ts'
import { ordersChanged } from './lib/order-changes.ts'
import { applyCallback, recordOutbound } from './lib/outbound.ts'
import { receive } from './lib/receive.ts'
import { settleByStatus } from './lib/send-results.ts'
import { noticeConnection } from './lib/switch.ts'
import { registerPurposes } from './lib/uploads.ts'

export default wiring(() => {
  members.onRemoved(releaseMember)
  sending.onInbound(receive)
  sending.onEcho(receiveEcho)
  sending.onAccepted(recordOutbound)
  sending.onStatus('in', settleByStatus)
  sending.onEveryStatus(applyCallback)
  registerPurposes()
  onOfficialDisconnected(noticeConnection)
  orders.onChange(ordersChanged)
  optOuts.onChanged(moveConversations)
  exports.register('inbox-export', inboxExport)
})
