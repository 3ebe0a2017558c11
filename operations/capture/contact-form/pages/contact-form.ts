import { storefrontPage } from '#operations/storefront/index'
import { jsonAnswer } from '#runtime/page'
import { contactForm } from '../form-settings.ts'
import { issueFormToken } from '../submit.ts'
import { toPublicForm } from '../widget.ts'

const off = () => jsonAnswer({ enabled: false })

export default storefrontPage({
  method: 'GET',
  path: '/contact-form',
  description: 'The settings that draw the contact form, and its token.',
  trust: 'Settings that every shopper sees: no addresses, no lists.',
  kind: 'read',
  feature: 'contact-form',
  missing: off,
  async handler(ctx) {
    const settings = await contactForm.getForShoppers(ctx)
    if (!settings.isEnabled) return off()
    return jsonAnswer({ enabled: true, token: issueFormToken(ctx), settings: toPublicForm(ctx, settings) })
  },
})
