import { operation } from '#runtime/operation'
import { listOf } from '#runtime/schema'
import { listReviews } from '../reviews.ts'
import { review, reviewListQuery } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-reviews/list',
  description:
    'List reviews by status, rating, product, what they have, words or days; newest first unless asked otherwise.',
  details:
    'Lists (status, rating, source) are repeated or comma-separated. Days and newest go by reviewedAt. Above 50,000 rows, 5,000 where text is looked for, total is that number and X-Total-Capped says so.',
  words: 'what do buyers say, opinions, stars, waiting for approval',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'reviews',
  input: { query: reviewListQuery },
  answer: { status: 200, body: listOf(review) },
  handler: (ctx, { query }) => listReviews(ctx, query),
})
