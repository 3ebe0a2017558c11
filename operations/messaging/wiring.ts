import { wiring } from '#runtime/wiring'
import { forgetMember } from './assistant/codes.ts'
import { hear, isForAssistant } from './assistant/heard.ts'
import { buttonWidget, connectedNumberChanged } from './button/button.ts'
import { applyEchoes, applyInbound, applyStatuses, findStores } from './callbacks/apply.ts'
import { applyPersonChanges } from './callbacks/people.ts'
import { applyAddressBook, applyHistory, applyMessageChanges } from './callbacks/told.ts'
import { forgetsPhone } from './forgetting/forget.ts'
import {
  applyNumberAccount,
  applyNumberHealth,
  applyNumberName,
  storesOfAccounts,
} from './official/callbacks.ts'
import { numberKind } from './official/kind.ts'
import { outcomes } from './outbox/moves.ts'
import { wakeLanes } from './outbox/rows.ts'
import { messagingPort } from './provider/open.ts'
import { applySessionEvents, storesOfSessions } from './qr/events.ts'
import { singleSends } from './sends/lane.ts'
import {
  applyTemplateCategories,
  applyTemplateFlags,
  applyTemplateQualities,
  applyTemplateStatuses,
  storesOfTemplates,
} from './templates/callbacks.ts'
import { headerFiles, headerPurpose } from './templates/header-media.ts'
import { rejectedTemplates } from './templates/pending.ts'

export default wiring({
  ports: { messaging: messagingPort },
  counters: [outcomes],
  personForgotten: [forgetsPhone],
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
  },
  unplacedEvents: { messaging: findStores },
  // The assistant first: what comes to its number is about no store's, whatever its key.
  subjects: [
    { isOf: isForAssistant, find: hear },
    { isOf: (_ctx, { key }) => key.startsWith('template-'), find: storesOfTemplates },
    { isOf: (_ctx, { key }) => key.startsWith('qr-session:'), find: storesOfSessions },
    { isOf: (_ctx, { key }) => key.startsWith('number-'), find: storesOfAccounts },
  ],
  senders: { dm: singleSends },
  numberConnected: [wakeLanes],
  connectionKinds: { messaging: numberKind },
  memberRemoved: [forgetMember],
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
