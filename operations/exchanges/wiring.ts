import { sending, templates } from '#operations/messaging/lib/door'
import { exports, home } from '#operations/store/lib/door'
import { wiring } from '#runtime/wiring'
import { pendingRequests, templateUse } from './lib/for-others.ts'
import { applyStatuses } from './lib/notice-results.ts'
import { registerPhotos } from './lib/photos.ts'
import { requestsExport } from './lib/requests-export.ts'

export default wiring(() => {
  registerPhotos()
  sending.onStatus('ex', applyStatuses)
  templates.registerUse(templateUse)
  exports.register('exchange-export', requestsExport)
  home.registerPending('exchange-requests-pending', pendingRequests)
})
