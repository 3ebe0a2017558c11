import { operation } from '#runtime/operation'
import { readSession } from '../../qr/read.ts'
import { messagingSession } from '../../qr/schema.ts'
import { joinShared } from '../connect.ts'

export default operation({
  method: 'POST',
  path: '/messaging/connect-service',
  description: "Send through the service's shared number. Other connections stay connected.",
  words: 'use the shared number, choose which number sends, switch the connection',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'messaging',
  transaction: 'own',
  answer: { status: 200, body: messagingSession },
  refuses: { conflict: 'The store uses it already, or this server has no shared number' },
  etag: true,
  ifMatch: ['/messaging/session'],
  async handler(ctx) {
    await joinShared(ctx)
    return readSession(ctx)
  },
})
