import { extensions } from '#runtime/extensions'
import { eraseMember } from './assistant/codes.ts'
import { isForAssistant, queueReplies } from './assistant/inbound.ts'
import { buttonWidget, connectedNumberChanged } from './button/button.ts'
import { applyEchoes, applyInbound, applyStatuses, findStores } from './callbacks/apply.ts'
import { applyBounces } from './callbacks/mail-failures.ts'
import { applyAddressBook, applyHistory, applyMessageChanges } from './callbacks/message-changes.ts'
import { applyPersonChanges } from './callbacks/person-addresses.ts'
import { erasePerson } from './erasure/erase-person.ts'
import {
  applyNumberAccount,
  applyNumberHealth,
  applyNumberName,
  findAccountStores,
  notifyNumberWarnings,
} from './official/callbacks.ts'
import { numberKind } from './official/kind.ts'
import { wakeWaitingMessages } from './outbox/rows.ts'
import { outcomes } from './outbox/transitions.ts'
import { messagingPort } from './provider/open.ts'
import { applySessionEvents, findSessionStores } from './qr/events.ts'
import { singleSends } from './sends/outbox-source.ts'
import {
  applyTemplateCategories,
  applyTemplateFlags,
  applyTemplateQualities,
  applyTemplateStatuses,
  findTemplateStores,
} from './templates/callbacks.ts'
import { headerFiles, headerPurpose } from './templates/header-media.ts'
import { rejectedTemplates } from './templates/pending.ts'

export default extensions({
  ports: { messaging: messagingPort },
  counters: [outcomes],
  personErasure: [erasePerson],
  providerEvents: {
    'messaging:status': [applyStatuses],
    'messaging:inbound': [applyInbound],
    'messaging:echo': [applyEchoes],
    'messaging:history': [applyHistory],
    'messaging:message-change': [applyMessageChanges],
    'messaging:person-change': [applyPersonChanges],
    'messaging:address-book': [applyAddressBook],
    'messaging:template-status': [applyTemplateStatuses],
    'messaging:template-quality': [applyTemplateQualities],
    'messaging:template-category': [applyTemplateCategories],
    'messaging:template-flagged': [applyTemplateFlags],
    'messaging:qr-session': [applySessionEvents],
    'messaging:number-health': [applyNumberHealth],
    'messaging:number-name': [applyNumberName],
    'messaging:number-account': [applyNumberAccount],
    'messaging:number-warning': [notifyNumberWarnings],
    'mail:bounced': [applyBounces],
  },
  storeResolvers: { messaging: findStores },
  // `isForAssistant` must be first: messages to the assistant's number belong to no store, regardless of their key.
  subjects: [
    { isOf: isForAssistant, find: queueReplies },
    { isOf: (_ctx, { key }) => key.startsWith('template-'), find: findTemplateStores },
    { isOf: (_ctx, { key }) => key.startsWith('qr-session:'), find: findSessionStores },
    { isOf: (_ctx, { key }) => key.startsWith('number-'), find: findAccountStores },
  ],
  senders: { dm: singleSends },
  numberConnected: [wakeWaitingMessages],
  connectionKinds: { messaging: numberKind },
  memberRemoved: [eraseMember],
  connectionSelected: [connectedNumberChanged],
  uploads: { [headerPurpose]: headerFiles },
  pending: { 'templates-rejected': rejectedTemplates },
  widgets: { messagingButton: { feature: 'messaging', build: buttonWidget } },
  elements: [
    {
      tag: 'store-messaging-button',
      widget: 'messagingButton',
      module: new URL('button/elements/store-messaging-button.js', import.meta.url),
      pages: '*',
      floats: true,
    },
  ],
  events: { 'messaging-button': { feature: 'messaging', types: ['impression', 'click', 'close'] } },
})
