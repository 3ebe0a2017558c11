import { exportJob } from '#operations/store/index'
import { statisticsExport } from '../../handles.ts'
import { exportOverview, exportProducts, type StatisticsQuery } from '../export-rows.ts'

const columns = {
  products: ['product_id', 'name', 'source_type', 'orders', 'units', 'revenue', 'currency'],
  overview: [
    'date',
    'feature',
    'messages_sent',
    'emails_sent',
    'delivered',
    'read',
    'failed',
    'conversions',
    'revenue',
    'currency',
  ],
}
const rows = { products: exportProducts, overview: exportOverview }

/** Uses `exportJob`, not `defineExport`: the rows are computed figures, with other columns for each `type`. */
export default exportJob<StatisticsQuery>(statisticsExport, {
  title: 'Statistics',
  description: 'Emails statistics as CSV',
  columns: (_ctx, { type }) => columns[type],
  rows: (ctx, query, header, atOnce) => rows[query.type](ctx, query, header, atOnce),
})
