import { sending, templates } from '#operations/messaging/lib/door'
import { exports, home, onboarding } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import { pendingRequests, templateUse } from './lib/for-others.ts'
import { applyStatuses } from './lib/notice-results.ts'
import { registerPhotos } from './lib/photos.ts'
import { requestsExport } from './lib/requests-export.ts'
import { activateExchanges, lacksForExchanges } from './lib/settings.ts'

export default wiring(() => {
  registerPhotos()
  sending.onStatus('ex', applyStatuses)
  templates.registerUse(templateUse)
  exports.register('exchange-export', requestsExport)
  onboarding.onActivate('exchanges', activateExchanges, lacksForExchanges)
  home.registerPending('exchange-requests-pending', pendingRequests)
})
