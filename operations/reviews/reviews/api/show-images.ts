import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { setShowImages } from '../moderation.ts'
import { readReview } from '../reviews.ts'
import { review } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-reviews/:reviewId/show-images',
  description: 'Show or hide the images of a review on the storefront; the files are kept.',
  words: 'hide or show the photos of a review',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: { body: object({ showImages: z.boolean() }) },
  answer: { status: 200, body: review },
  refuses: { not_found: 'No such review' },
  etag: true,
  example: { body: { showImages: false } },
  async handler(ctx, { params, body }) {
    await setShowImages(ctx, params.reviewId, body.showImages)
    return readReview(ctx, params.reviewId)
  },
})
