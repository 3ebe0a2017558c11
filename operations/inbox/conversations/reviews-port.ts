/** Lists a contact's reviews, through an extension point that the section reviews implements. */
import type { Context } from '#runtime/context'
import type { Paging } from '#runtime/database/list'
import { JsonText } from '#runtime/operation'

/** The authors whose reviews are listed: those with the phone, and those with an email from the customer's orders. */
export interface Reviewer {
  phoneKey: string
  /** The id of the customer of the newest order with the phone. */
  customerId: string | null
}
/** Returns `{ data, page, limit, total }` with reviews of any status, newest first. */
export type ContactReviews = (ctx: Context, reviewer: Reviewer, paging: Paging) => Promise<JsonText>

/** Lists the reviews; none if the section reviews is not installed. */
export async function listContactReviews(
  ctx: Context,
  reviewer: Reviewer,
  paging: Paging,
): Promise<JsonText> {
  const { contactReviews } = ctx.extensions
  if (contactReviews) return contactReviews(ctx, reviewer, paging)
  return new JsonText(JSON.stringify({ data: [], page: paging.page, limit: paging.limit, total: 0 }))
}
