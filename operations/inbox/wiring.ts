import { wiring } from '#runtime/wiring'
import { moveConversations } from './conversations/contacts.ts'
import { releaseMember } from './conversations/conversations.ts'
import { inboxExport } from './conversations/export.ts'
import { ordersChanged } from './conversations/order-changes.ts'
import { unreadConversations } from './conversations/pending.ts'
import { uploads } from './messages/uploads.ts'
import { receiveEcho, writtenElsewhere } from './receiving/echo.ts'
import { applyCallback, recordOutbound } from './receiving/outbound.ts'
import { receive } from './receiving/receive.ts'
import { settleByStatus } from './sending/results.ts'
import { noticeConnection } from './switch/switch.ts'

export default wiring({
  memberRemoved: [releaseMember],
  inbound: [receive],
  echoes: [receiveEcho],
  departures: [recordOutbound],
  senders: { in: { source: 'inbox', applyStatuses: settleByStatus, elsewhere: writtenElsewhere } },
  statuses: [applyCallback],
  uploads,
  officialDisconnected: [noticeConnection],
  ordersChanged: [ordersChanged],
  optOutsChanged: moveConversations,
  pending: { 'conversations-unread': unreadConversations },
  exports: { 'inbox-export': inboxExport },
})
