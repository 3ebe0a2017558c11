import { wiring } from '#runtime/wiring'
import { forgetsRequests } from './forgetting/forget.ts'
import { notices } from './notices/lane.ts'
import { pendingRequests, templateUse } from './requests/for-others.ts'
import { exchangePhotos, photoUploads } from './requests/photos.ts'
import { activateExchanges, lacksForExchanges } from './settings/settings.ts'

export default wiring({
  personForgotten: [forgetsRequests],
  uploads: { [exchangePhotos]: photoUploads },
  senders: { ex: notices },
  templateUses: [templateUse],
  switches: { exchanges: { activate: activateExchanges, lacks: lacksForExchanges } },
  pending: { 'exchange-requests-pending': pendingRequests },
})
