import { job } from '#runtime/job'
import { contactFormNotify } from '../../handles.ts'
import { mailSubmission } from '../form-email.ts'

export default job(contactFormNotify, {
  description: 'Emails a submission of the contact form to the store.',
  retry: { limit: 6, backoffSeconds: 30 },
  timeoutSeconds: 120,
  safeTwice: 'The idempotency key of each email is the submission and the address.',
  run: (ctx, { submissionId }) => mailSubmission(ctx, submissionId),
})
