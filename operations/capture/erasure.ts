/**
 * Erases a person from lead capture. Their subscriber row stays, anonymized, for the figures; form submissions are
 * deleted.
 */
import { belongsToSubject, type ErasureHandler } from '#operations/store/index'

const columns = { email: 'email', phoneKey: 'phone_key' }
const nobody = {
  ...{ email: null, phone: null, phone_key: null, name: null, page_url: null },
  ...{ coupon_email: null, push_due: false, push_claim: null },
  consent_email: false,
  consent_phone: false,
}

/** Keeps the rows of `email_unsubscribes`: without them the person would be emailed again. */
export const captureErasure: ErasureHandler = {
  async erase(ctx, person) {
    const now = ctx.now()
    await ctx.db
      .updateTable('newsletter_subscribers')
      .set((eb) => ({
        ...nobody,
        status: 'unsubscribed',
        unsubscribed_at: eb.fn.coalesce('unsubscribed_at', eb.val(now)),
        updated_at: now,
      }))
      .where(belongsToSubject(person, columns))
      .execute()
    await ctx.db
      .deleteFrom('contact_form_submissions')
      .where(belongsToSubject(person, { email: 'email', phone: 'phone' }))
      .execute()
  },
}
