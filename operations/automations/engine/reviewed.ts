/** Finds orders that need no review request, through an extension point that the section reviews implements. */
import type { Context } from '#runtime/context'

/** By order id. `not-eligible`: the order was reviewed; `duplicate-request`: its review was already requested. */
export type Reviewed = ReadonlyMap<string, 'not-eligible' | 'duplicate-request'>
/** Finds which of the orders were reviewed, or whose review was already requested. */
export type FindReviewed = (ctx: Context, orderIds: readonly string[]) => Promise<Reviewed>

/** Empty if the section reviews is not installed. */
export const findReviewedOrders: FindReviewed = async (ctx, orderIds) =>
  (orderIds.length > 0 && (await ctx.extensions.reviewedOrders?.(ctx, orderIds))) || new Map()
