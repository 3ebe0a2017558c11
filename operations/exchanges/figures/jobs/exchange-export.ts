import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { exchangeExport } from '../../handles.ts'

export default job(
  exchangeExport,
  exports.exportJob(exchangeExport, 'Emails requests for exchanges and returns as CSV'),
)
