import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued } from '#runtime/schema'
import { reviewExport } from '../../handles.ts'
import { reviewExportQuery } from '../schema.ts'

export default operation({
  method: 'GET',
  path: '/product-reviews/export',
  description: 'Email the reviews that fit as a CSV file to the member whose key asks.',
  details: 'The filters of the list. The file can be imported again.',
  words: 'opinions as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'reviews',
  input: { query: reviewExportQuery.extend(exportOptions) },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) => exports.start(ctx, reviewExport, query),
})
