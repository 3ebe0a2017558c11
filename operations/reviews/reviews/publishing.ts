/** Decides whether a shopper's review is published at once (rule 2). No database, no clock. */

import { hasBlockedWord } from '../review-text.ts'
import type { ReviewSettings } from '../settings/schema.ts'

export interface WrittenReview {
  rating: number
  verified: boolean
  hasImages: boolean
  name: string
  title: string | null
  text: string | null
}

export function decideStatus(review: WrittenReview, { autoPublish }: ReviewSettings): 'approved' | 'pending' {
  const { mode, minRating, verifiedOnly, holdImages, blockedWords } = autoPublish
  const isPublished =
    (mode === 'all' || (mode === 'rating' && review.rating >= minRating)) &&
    (review.verified || !verifiedOnly) &&
    (!review.hasImages || !holdImages) &&
    !hasBlockedWord([review.name, review.title, review.text], blockedWords)
  return isPublished ? 'approved' : 'pending'
}
