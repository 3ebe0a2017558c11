import { sending, templates } from '#operations/messaging/lib/door'
import { exports, stores } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import { contactsExport } from './lib/contacts-export.ts'
import { applyStatuses } from './lib/message-statuses.ts'
import * as optOuts from './lib/opt-outs.ts'
import { optOutsExport } from './lib/opt-outs-export.ts'
import { templateUse } from './lib/template-use.ts'
import { lookAtWindows } from './lib/windows.ts'

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
