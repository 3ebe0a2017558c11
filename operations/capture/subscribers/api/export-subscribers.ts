import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued, object } from '#runtime/schema'
import { newsletterExport } from '../../handles.ts'
import { subscriberFilters } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/newsletter/export-subscribers',
  description: 'Email the subscribers as a CSV file to the member whose key asks.',
  words: 'who signed up as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'newsletter',
  input: { query: object({ ...subscriberFilters, ...exportOptions }) },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) => exports.start(ctx, newsletterExport, query),
})
