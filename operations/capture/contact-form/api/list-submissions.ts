import { operation } from '#runtime/operation'
import { listOf, object, paging } from '#runtime/schema'
import { submission, submissionFilters } from '../submission-schema.ts'
import { listSubmissions } from '../submissions.ts'

export default operation({
  method: 'GET',
  path: '/contact-form/submissions',
  description: 'List what shoppers sent by the contact form, newest first.',
  words: 'questions that came in through the contact form, leads',
  scopes: ['platform:read'],
  readOnly: true,
  feature: 'contact-form',
  input: { query: object({ ...paging, ...submissionFilters }) },
  answer: { status: 200, body: listOf(submission) },
  handler: (ctx, { query }) => listSubmissions(ctx, query),
})
