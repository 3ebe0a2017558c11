import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued } from '#runtime/schema'
import { stockExport } from '../../handles.ts'
import { exportQuery } from '../../subscription-schema.ts'

export default operation({
  method: 'GET',
  path: '/stock-notifications/export',
  description:
    'Email the people who wait for stock, or were notified, as a CSV file to the member whose key asks.',
  details: 'All of them unless filtered; deleted ones are in none.',
  words: 'who waits for products as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'stock-alerts',
  input: { query: exportQuery.extend(exportOptions) },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) => exports.start(ctx, stockExport, query),
})
