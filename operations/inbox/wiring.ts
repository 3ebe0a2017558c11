import { wiring } from '#runtime/wiring'
import { moveContact, moveConversations, nameFromAddressBook } from './conversations/contacts.ts'
import { releaseMember } from './conversations/conversations.ts'
import { ordersChanged } from './conversations/order-changes.ts'
import { unreadConversations } from './conversations/pending.ts'
import { forgetOrderNames, forgetsConversations } from './forgetting/forget.ts'
import { uploads } from './messages/uploads.ts'
import { changeMessage } from './receiving/changed.ts'
import { receiveEcho, writtenElsewhere } from './receiving/echo.ts'
import { receiveEarlier } from './receiving/history.ts'
import { recordOutbound } from './receiving/outbound.ts'
import { receive } from './receiving/receive.ts'
import { applyCallback, teamMessages } from './sending/lane.ts'
import { noticeConnection } from './switch/switch.ts'

export default wiring({
  personForgotten: [forgetsConversations],
  shopForgotten: [forgetOrderNames],
  memberRemoved: [releaseMember],
  inbound: [receive],
  echoes: [receiveEcho],
  earlier: [receiveEarlier],
  messageChanges: [changeMessage],
  readdressed: [moveContact],
  addressBook: [nameFromAddressBook],
  departures: [recordOutbound],
  senders: { in: { ...teamMessages, elsewhere: writtenElsewhere } },
  statuses: [applyCallback],
  uploads,
  officialDisconnected: [noticeConnection],
  ordersChanged: [ordersChanged],
  optOutsChanged: moveConversations,
  pending: { 'conversations-unread': unreadConversations },
})
