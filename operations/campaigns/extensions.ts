import { extensions } from '#runtime/extensions'
import { pausedCampaigns } from './campaigns/pending.ts'
import { requeueWindowed } from './campaigns/windows.ts'
import { contactErasure, eraseShop } from './erasure/erasure.ts'
import { moveContacts } from './lists/contacts.ts'
import { optOutByReply } from './opt-outs/replies.ts'
import { campaignMessages } from './sending/outbox-source.ts'
import { templateUse } from './template-use.ts'

export default extensions({
  personErasure: [contactErasure],
  shopErasure: [eraseShop],
  inbound: [
    async (ctx, { phone, text, at }) => {
      if (text !== null) await optOutByReply(ctx, phone, text, at)
    },
  ],
  readdressed: [moveContacts],
  senders: { cm: campaignMessages },
  templateUses: [templateUse],
  timezoneChanged: [requeueWindowed],
  pending: { 'campaigns-paused': pausedCampaigns },
})
