/** Settings of the testimonials widget. */
import { markStorefrontChanged } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { settings } from '#runtime/database/settings'
import { defaultTestimonialSettings, testimonialSettings, testimonialWords } from './schema.ts'

export const testimonialWidget = settings({
  name: 'testimonials:settings',
  table: 'testimonial_settings',
  defaults: defaultTestimonialSettings,
  words: testimonialWords,
  schema: testimonialSettings,
  emptyIs: null,
  onSaved: markStorefrontChanged,
})

/** Turns the widget on. Called by the onboarding. */
export const activateTestimonials = (ctx: Context): Promise<void> =>
  testimonialWidget.write(ctx, (before) => ({ ...before, isEnabled: true }))
