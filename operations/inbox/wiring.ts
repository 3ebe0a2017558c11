import { optOuts } from '#operations/campaigns/door'
import { onOfficialDisconnected, sending } from '#operations/messaging/door'
import { exports, members, orders } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import { moveConversations } from './conversations/contacts.ts'
import { releaseMember } from './conversations/conversations.ts'
import { inboxExport } from './conversations/export.ts'
import { ordersChanged } from './conversations/order-changes.ts'
import { registerPurposes } from './messages/uploads.ts'
import { receiveEcho } from './receiving/echo.ts'
import { applyCallback, recordOutbound } from './receiving/outbound.ts'
import { receive } from './receiving/receive.ts'
import { settleByStatus } from './sending/results.ts'
import { noticeConnection } from './switch/switch.ts'

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
