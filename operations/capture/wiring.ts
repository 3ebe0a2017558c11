import { onListDeleted } from '#operations/campaigns/door'
import { exports, onboarding } from '#operations/store/door'
import { registerEvents, registerWidget } from '#operations/storefront/door'
import { wiring } from '#runtime/wiring'
import { forgetFormList, turnFormOn } from './contact-form/form-settings.ts'
import { submissionsExport } from './contact-form/submissions-export.ts'
import { formWidget } from './contact-form/widget.ts'
import { forgetPopupList, popupOnSince, turnPopupOn } from './popup/settings.ts'
import { popupWidget } from './popup/widget.ts'
import { subscribersExport } from './subscribers/export.ts'
import { leaveNewsletter } from './subscribers/leave-newsletter.ts'
import * as unsubscribes from './subscribers/unsubscribes.ts'

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
