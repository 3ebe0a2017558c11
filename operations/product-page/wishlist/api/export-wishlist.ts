import { days, exports } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { day, exportOptions, exportQueued, object } from '#runtime/schema'
import { wishlistExport } from '../../handles.ts'

export default operation({
  method: 'GET',
  path: '/wishlist/export',
  description: 'Email the contacts of wishlists as a CSV file to the member whose key asks.',
  details:
    'A row for each contact, with what is in the list now. With dates, those who last added something in the range, at most 365 days.',
  words: 'emails of people who saved products, favourites as a spreadsheet',
  scopes: ['platform:write'],
  readOnly: false,
  feature: 'wishlist',
  input: {
    query: object({
      startDate: day.optional().describe('Default: 29 days before endDate, where that is given'),
      endDate: day.optional().describe('Default: today, where startDate is given'),
      ...exportOptions,
    }),
  },
  answer: { status: 202, body: exportQueued },
  monitor: exports.monitor,
  handler(ctx, { query }) {
    const isWhole = query.startDate === undefined && query.endDate === undefined
    const range = isWhole ? {} : days.parseDayRange(ctx, query, 365)
    return exports.start(ctx, wishlistExport, { ...range, forExcel: query.forExcel })
  },
})
