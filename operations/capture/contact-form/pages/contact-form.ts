import { storefrontPage } from '#operations/storefront/door'
import { jsonAnswer } from '#runtime/page'
import { contactForm } from '../form-settings.ts'
import { formToken } from '../submit.ts'
import { publicForm } from '../widget.ts'

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
    return jsonAnswer({ enabled: true, token: formToken(ctx), settings: publicForm(ctx, settings) })
  },
})
