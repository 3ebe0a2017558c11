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
 * Everything needed to draw the form, so that pages request `GET /contact-form` only when somebody starts to fill it
 * in.
 */
export async function buildFormSettingsWidget(ctx: Context): Promise<Widget | null> {
  const settings = await contactForm.getForShoppers(ctx)
  return settings.isEnabled ? { value: toPublicForm(ctx, settings) } : null
}

/** Leaves out addresses and lists. */
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
