import { events, files, members, stores } from '#operations/store/door'
import { registerEvents, registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { forgetMember } from './assistant/codes.ts'
import { buttonWidget, connectedNumberChanged } from './button/button.ts'
import { applyEchoes, applyInbound, applyStatuses, findStores } from './callbacks/apply.ts'
import { applyNumberAccount, applyNumberHealth, applyNumberName } from './official/callbacks.ts'
import { applySessionEvents } from './qr/events.ts'
import { onStatus } from './sending/deliver.ts'
import { applySendStatuses } from './sends/statuses.ts'
import {
  applyTemplateCategories,
  applyTemplateQualities,
  applyTemplateStatuses,
} from './templates/callbacks.ts'
import { headerFiles, headerPurpose } from './templates/header-media.ts'

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
