/** Where the section of reviews tells of a contact's: those with the phone, or an email of the customer's orders. */
import type { Context } from '#runtime/context'
import type { Paging } from '#runtime/database/list'
import { JsonText } from '#runtime/operation'

export interface Reviewer {
  phoneKey: string
  /** Of the matched customer. */
  customerId: string | null
}
/** Answers `{ data, page, limit, total }`, reviews of any status, newest first. */
export type ContactReviews = (ctx: Context, reviewer: Reviewer, paging: Paging) => Promise<JsonText>

/** Without that section nobody has reviewed anything. */
export async function reviewsOf(ctx: Context, reviewer: Reviewer, paging: Paging): Promise<JsonText> {
  const { contactReviews } = ctx.wired
  if (contactReviews) return contactReviews(ctx, reviewer, paging)
  return new JsonText(JSON.stringify({ data: [], page: paging.page, limit: paging.limit, total: 0 }))
}
