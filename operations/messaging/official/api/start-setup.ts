import { operation } from '#runtime/operation'
import { instant, object, z } from '#runtime/schema'
import { startSetup } from '../setup.ts'

export default operation({
  method: 'POST',
  path: '/officialapi/setup',
  description: 'Open a setup link with which the merchant connects an official number at the provider.',
  details:
    'It holds for 60 minutes; an earlier link is dead. Other connections go on sending. Without a returnUrl the ' +
    'provider sends the merchant back to a page of this server, which confirms by itself.',
  words: 'connect the official business number, whatsapp business account',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'official-api',
  transaction: 'own',
  input: {
    body: object({
      returnUrl: z
        .string()
        .max(2000)
        .url('must be an address')
        .optional()
        .describe("This server's or the store's own host, https; or http on localhost"),
    }),
  },
  answer: {
    status: 200,
    body: object({ setupUrl: z.string(), expiresAt: instant, status: z.literal('setup-pending') }),
  },
  refuses: { conflict: 'An official number is connected or under review: disconnect it first' },
  ifMatch: ['/officialapi/status'],
  handler: (ctx, { body }) => startSetup(ctx, body.returnUrl),
})
