import { operation, z } from '#runtime/operation'
import { count, fileContent, object, queued } from '#runtime/schema'
import { importReviews } from '../start.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/import',
  description:
    'Import reviews from a CSV file; the good rows go in, each bad one is named in a notification.',
  details:
    'At most 50,000 rows; comma, semicolon or tab, which a first line `sep=;` may name. Columns: one of product_id, product_handle, sku; rating; reviewer_name; and, where you have them, reviewer_email, title, text (or body), review_date, picture_urls, reply, reply_date, verified, status. Other columns are passed over. Exports of Judge.me, Loox, Yotpo, Shopify Product Reviews, Stamped and Okendo, our own export and corrected files of rejected rows go in as they are. A review that was hidden there is rejected here, one with an unknown status waits. The same file again adds nothing. Nobody gets an email about imported reviews.',
  words: 'bring opinions from another shop, csv',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: {
    body: object({
      csv: fileContent(z.string().min(1, 'must not be empty').describe('The file as text, at most 10 MB')),
      status: z.enum(['approved', 'pending']).default('pending').describe('For rows without a status'),
    }),
  },
  answer: { status: 202, body: queued({ rows: count }) },
  monitor: '/notifications?type=review-import-completed,review-import-failed',
  transaction: 'own',
  example: {
    body: { csv: 'product_id,rating,reviewer_name,text\n1001,5,Ana Souza,Linda!\n', status: 'approved' },
  },
  handler: (ctx, { body }) => importReviews(ctx, body),
})
