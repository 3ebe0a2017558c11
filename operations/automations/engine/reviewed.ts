/** Orders whose customer need not be asked for a review: the reviews' section knows them. */
import type { Context } from '#runtime/context'

/** `not-eligible`: the review is there; `duplicate-request`: it was asked for. */
export type Reviewed = ReadonlyMap<string, 'not-eligible' | 'duplicate-request'>
/** Who knows which of some orders are reviewed or were asked about. */
export type KnowsReviewed = (ctx: Context, orderIds: readonly string[]) => Promise<Reviewed>

/** Without that section nobody has reviewed anything. */
export const reviewedOrders: KnowsReviewed = async (ctx, orderIds) =>
  (orderIds.length > 0 && (await ctx.wired.reviewedOrders?.(ctx, orderIds))) || new Map()
