/** Whether a review that a shopper wrote shows at once (rule 2). No database, no clock. */
import type { ReviewSettings } from '../settings/schema.ts'
import { hasBlockedWord } from '../words.ts'

export interface Written {
  rating: number
  verified: boolean
  hasImages: boolean
  name: string
  title: string | null
  text: string | null
}

export function statusFor(review: Written, { autoPublish }: ReviewSettings): 'approved' | 'pending' {
  const { mode, minRating, verifiedOnly, holdImages, blockedWords } = autoPublish
  const isPublished =
    (mode === 'all' || (mode === 'rating' && review.rating >= minRating)) &&
    (review.verified || !verifiedOnly) &&
    (!review.hasImages || !holdImages) &&
    !hasBlockedWord([review.name, review.title, review.text], blockedWords)
  return isPublished ? 'approved' : 'pending'
}
