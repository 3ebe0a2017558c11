import { wiring } from '#runtime/wiring'
import { pausedCampaigns } from './campaigns/pending.ts'
import { lookAtWindows } from './campaigns/windows.ts'
import { contactsExport } from './lists/contacts-export.ts'
import { optOutsExport } from './opt-outs/export.ts'
import * as optOuts from './opt-outs/opt-outs.ts'
import { applyStatuses } from './sending/statuses.ts'
import { templateUse } from './template-use.ts'

export default wiring({
  inbound: [
    async (ctx, { phone, text, at }) => {
      if (text !== null) await optOuts.fromReply(ctx, phone, text, at)
    },
  ],
  recipientStopped: [(ctx, phone) => optOuts.add(ctx, phone, 'provider')],
  senders: { cm: { source: 'messaging-campaign', applyStatuses } },
  templateUses: [templateUse],
  timezoneChanged: [lookAtWindows],
  pending: { 'campaigns-paused': pausedCampaigns },
  exports: { 'opt-outs-export': optOutsExport, 'contacts-export': contactsExport },
})
