/** Where the section of reviews tells of approved reviews. */
import type { Context } from '#runtime/context'

export interface RecentReview {
  productId: string
  customerName: string
  /** 1 to 5. */
  rating: number
  text: string | null
  reviewedAt: Date
}

/** Approved ones written at or after `since`, of products that are not `excluded`, newest first, at most `limit`. */
export type ApprovedReviews = (
  ctx: Context,
  query: { since: Date; excluded: readonly string[]; limit: number },
) => Promise<RecentReview[]>

/** Without that section nobody has reviewed anything. */
export const recentReviews: ApprovedReviews = async (ctx, query) =>
  (await ctx.wired.approvedReviews?.(ctx, query)) ?? []
