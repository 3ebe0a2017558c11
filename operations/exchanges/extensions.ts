import { extensions } from '#runtime/extensions'
import { requestErasure } from './erasure/request-erasure.ts'
import { notices } from './notices/outbox-source.ts'
import { findReturnedItems, pendingRequests, templateUse } from './requests/integrations.ts'
import { exchangePhotos, photoUploads } from './requests/photos.ts'
import { activateExchanges, findActivationBlocker } from './settings/settings.ts'

export default extensions({
  personErasure: [requestErasure],
  uploads: { [exchangePhotos]: photoUploads },
  senders: { ex: notices },
  returnedItems: findReturnedItems,
  templateUses: [templateUse],
  featureActivators: { exchanges: { activate: activateExchanges, findSkipReason: findActivationBlocker } },
  pending: { 'exchange-requests-pending': pendingRequests },
})
