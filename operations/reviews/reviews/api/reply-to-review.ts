import { operation } from '#runtime/operation'
import { keepEmpty, object } from '#runtime/schema'
import { plainText } from '../../common-schema.ts'
import { setReply } from '../moderation.ts'
import { readReview } from '../reviews.ts'
import { review } from '../schema.ts'

export default operation({
  method: 'PATCH',
  path: '/product-reviews/:reviewId/reply',
  description: 'Answer a review publicly, in the name of the store; null takes the answer away.',
  words: 'answer a bad review, thank a reviewer',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: { body: object({ text: keepEmpty(plainText(1, 2000).nullable()) }) },
  answer: { status: 200, body: review },
  refuses: { not_found: 'No such review', conflict: 'It is rejected' },
  etag: true,
  example: { body: { text: 'Thank you, Ana!' } },
  async handler(ctx, { params, body }) {
    await setReply(ctx, params.reviewId, body.text)
    return readReview(ctx, params.reviewId)
  },
})
