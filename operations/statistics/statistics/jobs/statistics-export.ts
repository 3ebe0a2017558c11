import { exportJob } from '#operations/store/door'
import { statisticsExport } from '../../handles.ts'
import { type Asked, overviewRows, productRows } from '../export-rows.ts'

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
const rows = { products: productRows, overview: overviewRows }

/** No rows of a table: figures, of two kinds. */
export default exportJob<Asked>(statisticsExport, {
  title: 'Statistics',
  description: 'Emails statistics as CSV',
  columns: (_ctx, { type }) => columns[type],
  rows: (ctx, query, header, atOnce) => rows[query.type](ctx, query, header, atOnce),
})
