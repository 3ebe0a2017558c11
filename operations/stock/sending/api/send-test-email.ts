import { operation, z } from '#runtime/operation'
import { email, object } from '#runtime/schema'
import { sendTestMail } from '../test-mail.ts'

export default operation({
  method: 'POST',
  path: '/stock-notifications/send-test-email',
  description: 'Send the email of stock alerts, as it is saved, to an address to look at.',
  details: "To the address of the key's creator unless said. It makes no subscription and counts nowhere.",
  words: 'send myself the back in stock email',
  scopes: ['platform:write', 'messages:send'],
  readOnly: false,
  feature: 'stock-alerts',
  transaction: 'own',
  input: { body: object({ email: email.optional() }).optional() },
  answer: { status: 200, body: object({ sentTo: z.string(), subject: z.string() }) },
  example: { body: { email: 'olivia@example.com' } },
  handler: (ctx, { body }) => sendTestMail(ctx, body?.email),
})
