import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { consentAsked } from '../form-rules.ts'
import { contactForm } from '../form-settings.ts'
import { formToken } from '../submit.ts'

const off = () => jsonAnswer({ enabled: false })

export default storefrontPage({
  method: 'GET',
  path: '/contact-form',
  description: 'What the contact form needs to draw itself, and its token.',
  trust: 'Settings that every shopper sees: no addresses, no lists.',
  kind: 'read',
  feature: 'contact-form',
  missing: off,
  async handler(ctx) {
    const settings = await contactForm.forShoppers(ctx)
    if (!settings.isEnabled) return off()
    const {
      notifyEmails: _to,
      crmListId: _list,
      subscribeToNewsletter: _does,
      isEnabled: _on,
      ...shown
    } = settings
    const asked = { ...shown, consentText: consentAsked(settings, ctx.store.locale) }
    return jsonAnswer({ enabled: true, token: formToken(ctx), settings: asked })
  },
})
