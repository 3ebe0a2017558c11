import { operation } from '#runtime/operation'
import { endSession } from '../start.ts'

export default operation({
  method: 'DELETE',
  path: '/messaging/session',
  description: 'End the QR session: the phone is logged out, and no longer selected.',
  words: 'log the phone out, unlink, unpair',
  scopes: ['platform:write', 'integrations:write'],
  readOnly: false,
  feature: 'messaging',
  transaction: 'own',
  answer: { status: 204 },
  refuses: { conflict: 'There is no QR session' },
  handler: (ctx) => endSession(ctx),
})
