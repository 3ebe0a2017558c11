/** Port for a contact's reviews: those with the phone, or with an email from the customer's orders. */
import type { Context } from '#runtime/context'
import type { Paging } from '#runtime/database/list'
import { JsonText } from '#runtime/operation'

export interface Reviewer {
  phoneKey: string
  /** The matched customer's id. */
  customerId: string | null
}
/** Returns `{ data, page, limit, total }`, reviews of any status, newest first. */
export type ContactReviews = (ctx: Context, reviewer: Reviewer, paging: Paging) => Promise<JsonText>

/** Empty without the reviews section. */
export async function listContactReviews(
  ctx: Context,
  reviewer: Reviewer,
  paging: Paging,
): Promise<JsonText> {
  const { contactReviews } = ctx.extensions
  if (contactReviews) return contactReviews(ctx, reviewer, paging)
  return new JsonText(JSON.stringify({ data: [], page: paging.page, limit: paging.limit, total: 0 }))
}
