/** What the storefront shows of the contact form. */
import type { Widget } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { contactForm } from './form-settings.ts'

export async function formWidget(ctx: Context): Promise<Widget | null> {
  const settings = await contactForm.inForce(ctx)
  return settings.isEnabled ? { value: true } : null
}
