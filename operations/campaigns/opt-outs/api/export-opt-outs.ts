import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued, object } from '#runtime/schema'
import { optOutsExport } from '../handles.ts'
import { optOutFilters } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/campaigns/opt-outs/export',
  description: 'Email the opted-out phones as a CSV file to the member whose key asks.',
  words: 'who unsubscribed as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'messaging',
  input: { query: object({ ...optOutFilters, ...exportOptions }) },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) => exports.start(ctx, optOutsExport, query),
})
