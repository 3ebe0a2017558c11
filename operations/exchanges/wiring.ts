import { sending, templates } from '#operations/messaging/door'
import { exports, home, onboarding } from '#operations/store/door'
import { wiring } from '#runtime/wiring'
import { requestsExport } from './figures/export.ts'
import { applyStatuses } from './notices/results.ts'
import { pendingRequests, templateUse } from './requests/for-others.ts'
import { registerPhotos } from './requests/photos.ts'
import { activateExchanges, lacksForExchanges } from './settings/settings.ts'

export default wiring(() => {
  registerPhotos()
  sending.onStatus('ex', applyStatuses)
  templates.registerUse(templateUse)
  exports.register('exchange-export', requestsExport)
  onboarding.onActivate('exchanges', activateExchanges, lacksForExchanges)
  home.registerPending('exchange-requests-pending', pendingRequests)
})
