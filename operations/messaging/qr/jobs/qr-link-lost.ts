import { job } from '#runtime/job'
import { qrLinkLost } from '../../handles.ts'
import { tellOfLoss } from '../events.ts'

export default job(qrLinkLost, {
  description: 'Tells the merchant of a linked phone that has been out of reach for 30 minutes',
  retry: { limit: 3, backoffSeconds: 30 },
  timeoutSeconds: 60,
  oneAtATimePer: ({ lostAt }) => lostAt,
  safeTwice: 'The notification of one loss has one key.',
  run: (ctx, { lostAt }) => tellOfLoss(ctx, new Date(lostAt)),
})
