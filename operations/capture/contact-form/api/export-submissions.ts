import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued, object } from '#runtime/schema'
import { contactFormExport } from '../../handles.ts'
import { submissionFilters } from '../submission-schema.ts'

export default operation({
  method: 'GET',
  path: '/contact-form/submissions/export',
  description: 'Email the submissions of the contact form as a CSV file to the member whose key asks.',
  words: 'questions of the contact form as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'contact-form',
  input: { query: object({ ...submissionFilters, ...exportOptions }) },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) => exports.start(ctx, contactFormExport, query),
})
