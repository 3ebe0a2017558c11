import { operation } from '#runtime/operation'
import { readSession } from '../read.ts'
import { messagingSession } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/messaging/session',
  description: "Read which connection the store's messages leave through, and whether each connection works.",
  details: 'The provider is not asked. The QR code is shown to keys that may start a session.',
  words: 'is whatsapp connected, QR code, state of the link',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'messaging',
  answer: { status: 200, body: messagingSession },
  etag: true,
  handler: (ctx) => readSession(ctx),
})
