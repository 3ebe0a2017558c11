/** Port through which alerts read approved reviews; the reviews section implements it. */
import type { Context } from '#runtime/context'

export interface RecentReview {
  productId: string
  customerName: string
  /** Stars, from 1 to 5. */
  rating: number
  text: string | null
  reviewedAt: Date
}

/** Approved reviews written at or after `since`, without `excluded` products, newest first, at most `limit`. */
export type ApprovedReviews = (
  ctx: Context,
  query: { since: Date; excluded: readonly string[]; limit: number },
) => Promise<RecentReview[]>

/** Reads approved reviews; returns none if the reviews section is not installed. */
export const recentReviews: ApprovedReviews = async (ctx, query) =>
  (await ctx.extensions.approvedReviews?.(ctx, query)) ?? []
