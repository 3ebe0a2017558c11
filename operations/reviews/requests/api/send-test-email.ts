import { operation, z } from '#runtime/operation'
import { email, object } from '#runtime/schema'
import { sendTestMail } from '../test-mail.ts'

export default operation({
  method: 'POST',
  path: '/product-reviews/send-test-email',
  description: 'Send the email of a review request to yourself, or to an address, with the saved settings.',
  details: 'About the first product of the catalog and a made-up customer. Nothing is counted anywhere.',
  words: 'send myself the review request',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'reviews',
  input: { body: object({ email: email.optional().describe("Left out: the address of the key's creator") }) },
  answer: { status: 200, body: object({ sentTo: z.string(), subject: z.string() }) },
  refuses: { unavailable: 'The mail server does not answer' },
  transaction: 'own',
  example: { body: {} },
  handler: (ctx, { body }) => sendTestMail(ctx, body?.email),
})
