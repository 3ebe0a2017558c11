import { operation } from '#runtime/operation'
import { deleteReview } from '../moderation.ts'

export default operation({
  method: 'DELETE',
  path: '/product-reviews/:reviewId',
  description: 'Delete a review with its images, from lists, averages and the storefront.',
  details: 'Its request stays sent: nobody is asked twice about one purchase.',
  words: 'throw an opinion away, fake, spam',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  answer: { status: 204 },
  refuses: { not_found: 'No such review' },
  handler: (ctx, { params }) => deleteReview(ctx, params.reviewId),
})
