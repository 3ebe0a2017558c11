import { job } from '#runtime/job'
import { mailproviderPush } from '../../handles.ts'
import { notifyPushFailed, pushDue } from '../push.ts'

export default job(mailproviderPush, {
  description: 'Pushes new subscribers to the email provider.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 600,
  isBulk: true,
  safeTwice: 'The job claims due subscribers; the provider keeps one member per email.',
  run: (ctx, _payload, { jobId, signal }) => pushDue(ctx, jobId, signal),
  failed: (ctx) => notifyPushFailed(ctx),
})
