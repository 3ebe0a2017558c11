import { wiring } from '#runtime/wiring'
import { pausedCampaigns } from './campaigns/pending.ts'
import { lookAtWindows } from './campaigns/windows.ts'
import { forgetShop, forgetsContacts } from './forgetting/forget.ts'
import { fromReply } from './opt-outs/replies.ts'
import { campaignMessages } from './sending/lane.ts'
import { templateUse } from './template-use.ts'

export default wiring({
  personForgotten: [forgetsContacts],
  shopForgotten: [forgetShop],
  inbound: [
    async (ctx, { phone, text, at }) => {
      if (text !== null) await fromReply(ctx, phone, text, at)
    },
  ],
  senders: { cm: campaignMessages },
  templateUses: [templateUse],
  timezoneChanged: [lookAtWindows],
  pending: { 'campaigns-paused': pausedCampaigns },
})
