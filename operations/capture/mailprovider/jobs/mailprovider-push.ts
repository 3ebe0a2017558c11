import { job } from '#runtime/job'
import { mailproviderPush } from '../../handles.ts'
import { pushDue, tellPushFailed } from '../push.ts'

export default job(mailproviderPush, {
  description: 'Pushes new subscribers to the email provider.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 600,
  isBulk: true,
  safeTwice: 'Who is due is claimed by the job; the provider keeps one member for each email.',
  run: (ctx, _payload, { jobId, signal }) => pushDue(ctx, jobId, signal),
  failed: (ctx) => tellPushFailed(ctx),
})
