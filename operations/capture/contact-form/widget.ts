/** What the storefront shows of the contact form. */
import type { Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { consentAsked } from './form-rules.ts'
import type { FormSettings } from './form-schema.ts'
import { contactForm } from './form-settings.ts'

export async function formWidget(ctx: Context): Promise<Widget | null> {
  const settings = await contactForm.inForce(ctx)
  return settings.isEnabled ? { value: true } : null
}

/** All that it is drawn with: no page asks for the form (`GET /contact-form`) before somebody fills it in. */
export async function formShown(ctx: Context): Promise<Widget | null> {
  const settings = await contactForm.forShoppers(ctx)
  return settings.isEnabled ? { value: publicForm(ctx, settings) } : null
}

/** No addresses, no lists. */
export function publicForm(ctx: Context, settings: FormSettings) {
  const {
    notifyEmails: _to,
    crmListId: _list,
    subscribeToNewsletter: _does,
    isEnabled: _on,
    ...shown
  } = settings
  return { ...shown, consentText: consentAsked(settings, ctx.store.locale) }
}
