import { job } from '#runtime/job'
import { instant, object } from '#runtime/schema'
import { expireSession } from '../start.ts'

export default job({
  description: 'Ends a QR session whose last code ran out, and frees what the provider keeps for it',
  payload: object({ startedAt: instant }),
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ startedAt }) => startedAt,
  safeTwice: 'Only that session is ended, while it still awaits a scan.',
  run: (ctx, { startedAt }) => expireSession(ctx, new Date(startedAt)),
})
