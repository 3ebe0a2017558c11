import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { setFeatured } from '../moderation.ts'
import { readReview } from '../reviews.ts'
import { review } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-reviews/:reviewId/featured',
  description: 'Feature an approved review, or stop featuring it.',
  words: 'put an opinion on top',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: { body: object({ featured: z.boolean() }) },
  answer: { status: 200, body: review },
  refuses: { not_found: 'No such review', conflict: 'It is not approved' },
  etag: true,
  example: { body: { featured: true } },
  async handler(ctx, { params, body }) {
    await setFeatured(ctx, params.reviewId, body.featured)
    return readReview(ctx, params.reviewId)
  },
})
