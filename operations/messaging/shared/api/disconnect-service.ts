import { operation } from '#runtime/operation'
import { readSession } from '../../qr/read.ts'
import { messagingSession } from '../../qr/schema.ts'
import { leaveShared } from '../connect.ts'

export default operation({
  method: 'POST',
  path: '/messaging/disconnect-service',
  description: "Leave the service's shared number; no other number takes its place by itself.",
  words: 'stop using the number, leave the shared number',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'messaging',
  transaction: 'own',
  answer: { status: 200, body: messagingSession },
  refuses: { conflict: 'The store does not use the shared number' },
  etag: true,
  ifMatch: ['/messaging/session'],
  async handler(ctx) {
    await leaveShared(ctx)
    return readSession(ctx)
  },
})
