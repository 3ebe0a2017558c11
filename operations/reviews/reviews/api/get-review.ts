import { operation } from '#runtime/operation'
import { readReview } from '../reviews.ts'
import { review } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-reviews/:reviewId',
  description: 'Get one review.',
  words: 'one opinion',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'reviews',
  answer: { status: 200, body: review },
  refuses: { not_found: 'No such review' },
  etag: true,
  handler: (ctx, { params }) => readReview(ctx, params.reviewId),
})
