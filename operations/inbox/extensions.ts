import { extensions } from '#runtime/extensions'
import { applyAddressBookName, moveContact, touchConversations } from './conversations/contacts.ts'
import { releaseMember } from './conversations/conversations.ts'
import { queueTierUpdates } from './conversations/order-changes.ts'
import { unreadConversations } from './conversations/pending.ts'
import { conversationErasure, eraseOrderNames } from './erasure/erasure.ts'
import { uploads } from './messages/uploads.ts'
import { providerAppMessages, receiveEcho } from './receiving/echo.ts'
import { receiveHistoryMessage } from './receiving/history.ts'
import { changeMessage } from './receiving/message-changes.ts'
import { recordOutbound } from './receiving/outbound.ts'
import { receive } from './receiving/receive.ts'
import { applyCallback, teamMessages } from './sending/outbox-source.ts'
import { checkConnection } from './switch/switch.ts'

export default extensions({
  personErasure: [conversationErasure],
  shopErasure: [eraseOrderNames],
  memberRemoved: [releaseMember],
  inbound: [receive],
  echoes: [receiveEcho],
  earlier: [receiveHistoryMessage],
  messageChanges: [changeMessage],
  readdressed: [moveContact],
  addressBook: [applyAddressBookName],
  departures: [recordOutbound],
  senders: { in: { ...teamMessages, external: providerAppMessages } },
  statuses: [applyCallback],
  uploads,
  officialDisconnected: [checkConnection],
  ordersChanged: [queueTierUpdates],
  optOutsChanged: touchConversations,
  pending: { 'conversations-unread': unreadConversations },
})
