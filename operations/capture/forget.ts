/** Somebody who wants to be forgotten: subscribers stay as figures, what they wrote by the form goes. */
import { type Forgets, isTheirs } from '#operations/store/door'

const columns = { email: 'email', phoneKey: 'phone_key' }
const nobody = {
  ...{ email: null, phone: null, phone_key: null, name: null, page_url: null },
  ...{ coupon_email: null, push_due: false, push_claim: null },
  consent_email: false,
  consent_phone: false,
}

/** Whom an email's link took off (`email_unsubscribes`) stays off: else they would be written to again. */
export const forgetsCaptured: Forgets = {
  async forget(ctx, person) {
    const now = ctx.now()
    await ctx.db
      .updateTable('newsletter_subscribers')
      .set((eb) => ({
        ...nobody,
        status: 'unsubscribed',
        unsubscribed_at: eb.fn.coalesce('unsubscribed_at', eb.val(now)),
        updated_at: now,
      }))
      .where(isTheirs(person, columns))
      .execute()
    await ctx.db
      .deleteFrom('contact_form_submissions')
      .where(isTheirs(person, { email: 'email', phone: 'phone' }))
      .execute()
  },
}
