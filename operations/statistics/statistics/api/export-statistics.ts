import { days, exports } from '#operations/store/index'
import { operation, z } from '#runtime/operation'
import { exportOptions, exportQueued, object } from '#runtime/schema'
import { statisticsExport } from '../../handles.ts'
import { currencyFilter, range } from '../../schema.ts'

export default operation({
  method: 'GET',
  path: '/statistics/export',
  description: 'Email the statistics of a range of days as a CSV file to the member whose key asks.',
  details: '`overview`: a row for each day and feature. `products`: one for each product and source.',
  words: 'statistics as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'statistics',
  input: {
    query: object({
      ...range,
      currency: currencyFilter,
      type: z
        .enum(['overview', 'products'])
        .default('overview')
        .describe('overview: a row a day; products: a row a product'),
      ...exportOptions,
    }),
  },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler: (ctx, { query }) =>
    exports.start(ctx, statisticsExport, {
      ...days.parseDayRange(ctx, query, 365),
      currency: query.currency ?? ctx.store.currency,
      type: query.type,
      forExcel: query.forExcel,
    }),
})
