import { operation } from '#runtime/operation'
import { readSession } from '../read.ts'
import { messagingSession } from '../schema.ts'
import { startSession } from '../start.ts'

export default operation({
  method: 'POST',
  path: '/messaging/session',
  description: 'Start linking a phone by QR code, or start again with fresh codes.',
  details:
    'The first code lives 60 seconds, five more 20 seconds each; read the session for the one of the moment. ' +
    'Whoever has a code can link a phone. A phone that scans it becomes the selected connection.',
  words: 'connect whatsapp with my phone, scan the QR code, pair, link',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'messaging',
  transaction: 'own',
  answer: { status: 201, body: messagingSession },
  refuses: { conflict: 'A phone is linked already, or the provider has no QR connection' },
  etag: true,
  async handler(ctx) {
    await startSession(ctx)
    return readSession(ctx)
  },
})
