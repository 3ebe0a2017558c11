import { exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { exportOptions, exportQueued } from '#runtime/schema'
import { exchangeExport } from '../../handles.ts'
import { requestExportQuery } from '../../requests/schema.ts'

export default operation({
  method: 'GET',
  path: '/product-exchanges/export',
  description:
    'Email the requests that fit as a CSV file, a row for each item, to the member whose key asks.',
  details: 'The filters of the list.',
  words: 'returns as a spreadsheet, download exchanges',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'exchanges',
  input: { query: requestExportQuery.extend(exportOptions) },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) => exports.start(ctx, exchangeExport, query),
})
