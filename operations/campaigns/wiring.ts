import { sending, templates } from '#operations/messaging/door'
import { exports, stores } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import { lookAtWindows } from './campaigns/windows.ts'
import { contactsExport } from './lists/contacts-export.ts'
import { optOutsExport } from './opt-outs/export.ts'
import * as optOuts from './opt-outs/opt-outs.ts'
import { applyStatuses } from './sending/statuses.ts'
import { templateUse } from './template-use.ts'

export default wiring(() => {
  sending.onInbound(async (ctx, { phone, text, at }) => {
    if (text !== null) await optOuts.fromReply(ctx, phone, text, at)
  })
  sending.onRecipientStopped((ctx, phone) => optOuts.add(ctx, phone, 'provider'))
  sending.onStatus('cm', applyStatuses)
  templates.registerUse(templateUse)
  stores.onTimezoneChanged(lookAtWindows)
  exports.register('opt-outs-export', optOutsExport)
  exports.register('contacts-export', contactsExport)
})
