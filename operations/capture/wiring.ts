import { onListDeleted } from '#operations/campaigns/lib/door'
import { exports, onboarding } from '#operations/store/lib/door'
import { registerEvents, registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { forgetFormList, turnFormOn } from './lib/form-settings.ts'
import { leaveNewsletter } from './lib/leave-newsletter.ts'
import { forgetPopupList, popupOnSince, turnPopupOn } from './lib/popup-settings.ts'
import { formWidget, popupWidget } from './lib/registrations.ts'
import { submissionsExport } from './lib/submissions-export.ts'
import { subscribersExport } from './lib/subscribers-export.ts'
import * as unsubscribes from './lib/unsubscribes.ts'

export default wiring(() => {
  registerWidget('newsletter', { feature: 'newsletter', build: popupWidget })
  registerWidget('contactForm', { feature: 'contact-form', build: formWidget })
  registerEvents('newsletter', { feature: 'newsletter', types: ['impression', 'close'] })
  exports.register('newsletter-export', subscribersExport)
  exports.register('contact-form-export', submissionsExport)
  unsubscribes.on('newsletter', leaveNewsletter)
  onListDeleted(forgetPopupList)
  onListDeleted(forgetFormList)
  onboarding.onEvidence('popup', popupOnSince)
  onboarding.onActivate('newsletter', turnPopupOn)
  onboarding.onActivate('contact-form', turnFormOn)
})
