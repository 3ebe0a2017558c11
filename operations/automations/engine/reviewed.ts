/** Orders that need no review request; the section reviews knows them. */
import type { Context } from '#runtime/context'

/** `not-eligible`: the order was reviewed; `duplicate-request`: the review was requested. */
export type Reviewed = ReadonlyMap<string, 'not-eligible' | 'duplicate-request'>
/** Finds which of the orders were reviewed or requested. */
export type FindReviewed = (ctx: Context, orderIds: readonly string[]) => Promise<Reviewed>

/** Empty if the section reviews is not installed. */
export const findReviewedOrders: FindReviewed = async (ctx, orderIds) =>
  (orderIds.length > 0 && (await ctx.extensions.reviewedOrders?.(ctx, orderIds))) || new Map()
