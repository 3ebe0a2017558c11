import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { setVerified } from '../moderation.ts'
import { readReview } from '../reviews.ts'
import { review } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-reviews/:reviewId/verified',
  description: 'Mark a review as of a verified purchase, or take the mark away.',
  words: 'mark as a real buyer',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: { body: object({ verified: z.boolean() }) },
  answer: { status: 200, body: review },
  refuses: { not_found: 'No such review' },
  etag: true,
  example: { body: { verified: true } },
  async handler(ctx, { params, body }) {
    await setVerified(ctx, params.reviewId, body.verified)
    return readReview(ctx, params.reviewId)
  },
})
