import { job } from '#runtime/job'
import { qrSessionExpire } from '../../handles.ts'
import { expireSession } from '../start.ts'

export default job(qrSessionExpire, {
  description: 'Ends a QR session whose last code ran out, and frees what the provider keeps for it',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ startedAt }) => startedAt,
  safeTwice: 'Only that session is ended, while it still awaits a scan.',
  run: (ctx, { startedAt }) => expireSession(ctx, new Date(startedAt)),
})
