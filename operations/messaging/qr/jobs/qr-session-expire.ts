import { job } from '#runtime/job'
import { qrSessionExpire } from '../../handles.ts'
import { expireSession } from '../start.ts'

export default job(qrSessionExpire, {
  description: 'Ends a QR session whose last code expired, and releases it at the provider',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ startedAt }) => startedAt,
  safeTwice: 'It only ends that session, while it still awaits a scan.',
  run: (ctx, { startedAt }) => expireSession(ctx, new Date(startedAt)),
})
