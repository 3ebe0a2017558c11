import { operation, z } from '#runtime/operation'
import { object } from '#runtime/schema'
import { moderate } from '../moderation.ts'
import { readReview } from '../reviews.ts'
import { rejectionReason, review } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-reviews/:reviewId/moderate',
  description:
    'Approve or reject a review, whatever its rating; an approved one is on the storefront at once.',
  words: 'approve or reject an opinion, hide a bad comment',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: { body: object({ status: z.enum(['approved', 'rejected']), reason: rejectionReason }) },
  answer: { status: 200, body: review },
  refuses: { not_found: 'No such review', conflict: 'It has that status already' },
  etag: true,
  example: { body: { status: 'approved' } },
  async handler(ctx, { params, body }) {
    await moderate(ctx, params.reviewId, body.status, body.reason ?? null)
    return readReview(ctx, params.reviewId)
  },
})
