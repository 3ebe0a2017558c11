import { email, object, themeId, z } from '#runtime/schema'
import { plain, rating } from '../common-schema.ts'

const platformId = themeId()

/** What a shopper sends. With a token the order says who they are. */
export const submitBody = object({
  productId: platformId,
  variantId: platformId.optional(),
  rating,
  title: plain(0, 150).optional(),
  text: plain(0, 5000).optional(),
  name: plain(0, 80).optional(),
  email: email.optional(),
  imageUrls: z.array(z.string().min(1).max(2000)).max(10).optional(),
  token: z.string().min(1).max(200).optional(),
  website: z.string().max(200).optional().describe('Hidden: people leave it empty'),
})
export type Submission = z.infer<typeof submitBody>

/** The same from the plain form behind a link, whose fields are texts. */
export const submitForm = submitBody.extend({
  rating: z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), rating),
})
