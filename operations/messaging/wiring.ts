import { events, files, members, stores } from '#operations/store/door'
import { registerEvents, registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { buttonWidget, connectedNumberChanged } from './lib/button.ts'
import { applyEchoes, applyInbound, applyStatuses, findStores } from './lib/callbacks.ts'
import { forgetMember } from './lib/chat-codes.ts'
import { headerFiles, headerPurpose } from './lib/header-media.ts'
import { applyNumberAccount, applyNumberHealth, applyNumberName } from './lib/official-callbacks.ts'
import { applySendStatuses } from './lib/send-statuses.ts'
import { onStatus } from './lib/sending.ts'
import { applySessionEvents } from './lib/session-events.ts'
import {
  applyTemplateCategories,
  applyTemplateQualities,
  applyTemplateStatuses,
} from './lib/template-callbacks.ts'

export default wiring(() => {
  files.registerPurpose(headerPurpose, headerFiles)
  events.on('messaging', 'status', applyStatuses)
  events.on('messaging', 'inbound', applyInbound)
  events.on('messaging', 'echo', applyEchoes)
  events.on('messaging', 'template-status', applyTemplateStatuses)
  events.on('messaging', 'template-quality', applyTemplateQualities)
  events.on('messaging', 'template-category', applyTemplateCategories)
  events.on('messaging', 'qr-session', applySessionEvents)
  events.on('messaging', 'number-health', applyNumberHealth)
  events.on('messaging', 'number-name', applyNumberName)
  events.on('messaging', 'number-account', applyNumberAccount)
  members.onRemoved(forgetMember)
  stores.onSelected(connectedNumberChanged)
  onStatus('dm', applySendStatuses)
  events.onUnassigned('messaging', findStores)
  registerWidget('messagingButton', { feature: 'messaging', build: buttonWidget })
  registerEvents('messaging-button', { feature: 'messaging', types: ['impression', 'click', 'close'] })
})
