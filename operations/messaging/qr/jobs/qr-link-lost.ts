import { job } from '#runtime/job'
import { qrLinkLost } from '../../handles.ts'
import { notifyLinkLost } from '../events.ts'

export default job(qrLinkLost, {
  description: 'Notifies the merchant of a linked phone that has been out of reach for 30 minutes',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ lostAt }) => lostAt,
  safeTwice: 'The notification has one dedupe key per loss.',
  run: (ctx, { lostAt }) => notifyLinkLost(ctx, new Date(lostAt)),
})
