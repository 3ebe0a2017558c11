/** Whom a request or a review can reach, who wants to be forgotten; what they wrote stays, under the name they gave it. */
import { type Forgotten, isTheirs } from '#operations/store/door'
import type { Context } from '#runtime/context'

const nobody = { customer_email: null, customer_phone: null, phone_key: null }
const columns = { email: 'customer_email', phoneKey: 'phone_key', order: 'order_id' }

export async function forgetReviewers(ctx: Context, person: Forgotten): Promise<void> {
  const theirs = isTheirs(person, columns)
  await ctx.db
    .updateTable('product_reviews')
    .set({ ...nobody, updated_at: ctx.now() })
    .where(theirs)
    .execute()
  await ctx.db
    .updateTable('review_dispatches')
    .set({ ...nobody, customer_name: null, updated_at: ctx.now() })
    .where(theirs)
    .execute()
}
