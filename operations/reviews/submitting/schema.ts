import { email, object, themeId, z } from '#runtime/schema'
import { plainText, rating } from '../common-schema.ts'

const platformId = themeId()

/** The request body of a shopper's review. With a token, the email is that of the order, and so is the name by default. */
export const submitBody = object({
  productId: platformId,
  variantId: platformId.optional(),
  rating,
  title: plainText(0, 150).optional(),
  text: plainText(0, 5000).optional(),
  name: plainText(0, 80).optional(),
  email: email.optional(),
  imageUrls: z.array(z.string().min(1).max(2000)).max(10).optional(),
  token: z.string().min(1).max(200).optional(),
  website: z.string().max(200).optional().describe('Hidden: people leave it empty'),
})
export type Submission = z.infer<typeof submitBody>

/** The same body from the HTML form, whose fields are strings. */
export const submitForm = submitBody.extend({
  rating: z.preprocess((value) => (typeof value === 'string' ? Number(value) : value), rating),
})
