import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { stockExport } from '../../handles.ts'

export default job(
  stockExport,
  exports.exportJob(stockExport, 'Emails the subscriptions of stock alerts as CSV'),
)
