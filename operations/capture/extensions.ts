import { extensions } from '#runtime/extensions'
import { clearFormList, turnFormOn } from './contact-form/form-settings.ts'
import { buildFormSettingsWidget, buildFormWidget } from './contact-form/widget.ts'
import { captureErasure } from './erasure.ts'
import { mailingListKind } from './mailing-list/connection.ts'
import { mailingListPort } from './mailing-list/open.ts'
import { clearPopupList, getPopupOnSince, turnPopupOn } from './popup/settings.ts'
import { buildPopupRules, buildPopupWidget } from './popup/widget.ts'
import { unsubscribeFromNewsletter } from './subscribers/newsletter-unsubscribe.ts'
import {
  isSuppressed,
  restoreAddresses,
  suppressBounced,
  suppressComplained,
} from './suppressions/suppressions.ts'

export default extensions({
  ports: { mailingList: mailingListPort },
  connectionKinds: { mailingList: mailingListKind },
  widgets: {
    newsletter: { feature: 'newsletter', build: buildPopupWidget },
    newsletterRules: { feature: 'newsletter', build: buildPopupRules },
    contactForm: { feature: 'contact-form', build: buildFormWidget },
    contactFormSettings: { feature: 'contact-form', build: buildFormSettingsWidget },
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
  personErasure: [captureErasure],
  events: { newsletter: { feature: 'newsletter', types: ['impression', 'close'] } },
  providerEvents: {
    'mail:bounced': [suppressBounced],
    'mail:complained': [suppressComplained],
    'mail:restored': [restoreAddresses],
  },
  isSuppressed,
  unsubscribes: { newsletter: unsubscribeFromNewsletter },
  listDeleted: [clearPopupList, clearFormList],
  evidence: { popup: getPopupOnSince },
  featureActivators: { newsletter: { activate: turnPopupOn }, 'contact-form': { activate: turnFormOn } },
})
