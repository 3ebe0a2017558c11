/**
 * Erases a person from lead capture. Their subscriber row stays, anonymized, for the figures; form submissions are
 * deleted.
 */
import { sql } from 'kysely'
import { belongsToSubject, type ErasureHandler } from '#operations/store/index'
import { mailproviderPush } from './handles.ts'
import { mailingList } from './mailing-list/connection.ts'

const columns = { email: 'email', phoneKey: 'phone_key' }
const nobody = {
  ...{ phone: null, phone_key: null, name: null, page_url: null, coupon_email: null },
  consent_email: false,
  consent_phone: false,
}

/** Keeps the rows of `email_unsubscribes`: without them the person would be emailed again. */
export const captureErasure: ErasureHandler = {
  async erase(ctx, person) {
    const now = ctx.now()
    // The email provider has the person, or is about to get them. The email goes once they are off its list.
    const isListed = ((await mailingList(ctx))?.listId ?? null) !== null
    const rest = isListed
      ? {
          push_due: sql<boolean>`email is not null`,
          erase_due: sql<boolean>`email is not null`,
          // A push that is running sees that the person has left meanwhile.
          revision: sql<number>`revision + 1`,
        }
      : { email: null, push_due: false, push_claim: null }
    const erased = await ctx.db
      .updateTable('newsletter_subscribers')
      .set((eb) => ({
        ...nobody,
        ...rest,
        status: 'unsubscribed',
        unsubscribed_at: eb.fn.coalesce('unsubscribed_at', eb.val(now)),
        updated_at: now,
      }))
      .where(belongsToSubject(person, columns))
      .returning(['id', 'erase_due'])
      .execute()
    const listed = erased.find((each) => each.erase_due)
    if (listed) await ctx.queue(mailproviderPush, { subscriberId: listed.id })
    await ctx.db
      .deleteFrom('contact_form_submissions')
      .where(belongsToSubject(person, { email: 'email', phone: 'phone' }))
      .execute()
  },
}
