import { wiring } from '#runtime/wiring'
import { forgetFormList, turnFormOn } from './contact-form/form-settings.ts'
import { formShown, formWidget } from './contact-form/widget.ts'
import { forgetsCaptured } from './forget.ts'
import { mailingListKind } from './mailing-list/connection.ts'
import { mailingListPort } from './mailing-list/open.ts'
import { forgetPopupList, popupOnSince, turnPopupOn } from './popup/settings.ts'
import { popupRules, popupWidget } from './popup/widget.ts'
import { leaveNewsletter } from './subscribers/leave-newsletter.ts'

export default wiring({
  ports: { mailingList: mailingListPort },
  connectionKinds: { mailingList: mailingListKind },
  widgets: {
    newsletter: { feature: 'newsletter', build: popupWidget },
    newsletterRules: { feature: 'newsletter', build: popupRules },
    contactForm: { feature: 'contact-form', build: formWidget },
    contactFormSettings: { feature: 'contact-form', build: formShown },
  },
  elements: [
    {
      tag: 'store-popup',
      widget: 'newsletter',
      module: new URL('popup/elements/store-popup.js', import.meta.url),
      pages: '*',
      floats: true,
      preview: 'popup_preview',
    },
    {
      tag: 'store-contact-form',
      widget: 'contactForm',
      module: new URL('contact-form/elements/store-contact-form.js', import.meta.url),
      pages: '*',
      floats: true,
    },
  ],
  personForgotten: [forgetsCaptured],
  events: { newsletter: { feature: 'newsletter', types: ['impression', 'close'] } },
  unsubscribes: { newsletter: leaveNewsletter },
  listDeleted: [forgetPopupList, forgetFormList],
  evidence: { popup: popupOnSince },
  switches: { newsletter: { activate: turnPopupOn }, 'contact-form': { activate: turnFormOn } },
})
