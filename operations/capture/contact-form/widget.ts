/** The contact form's widget on the storefront. */
import type { Widget } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { getConsentText } from './form-rules.ts'
import type { FormSettings } from './form-schema.ts'
import { contactForm } from './form-settings.ts'

export async function buildFormWidget(ctx: Context): Promise<Widget | null> {
  const settings = await contactForm.getEffective(ctx)
  return settings.isEnabled ? { value: true } : null
}

/**
 * Builds the widget with everything needed to draw the form. A page requests `GET /contact-form` (for the form's token)
 * only when a shopper starts to fill it in.
 */
export async function buildFormSettingsWidget(ctx: Context): Promise<Widget | null> {
  const settings = await contactForm.getForShoppers(ctx)
  return settings.isEnabled ? { value: toPublicForm(ctx, settings) } : null
}

/** The settings that shoppers may see: without email addresses and contact lists. */
export function toPublicForm(ctx: Context, settings: FormSettings) {
  const {
    notifyEmails: _to,
    crmListId: _list,
    subscribeToNewsletter: _does,
    isEnabled: _on,
    ...shown
  } = settings
  return { ...shown, consentText: getConsentText(settings, ctx.store.locale) }
}
