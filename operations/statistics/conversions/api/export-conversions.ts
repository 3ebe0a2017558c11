import { days, exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { currency, exportOptions, exportQueued, object } from '#runtime/schema'
import { conversionsExport } from '../../handles.ts'
import { range, sourceType, statusFilter } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/conversions/export',
  description: 'Email conversions as a CSV file to the member whose key asks.',
  words: 'attributed sales as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'statistics',
  input: {
    query: object({
      sourceType: sourceType.optional().describe('All unless said'),
      ...range,
      status: statusFilter,
      currency: currency.optional(),
      ...exportOptions,
    }),
  },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) =>
    exports.start(ctx, conversionsExport, { ...query, ...days.parseDayRange(ctx, query, 731) }),
})
