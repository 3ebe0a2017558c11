import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { newsletterExport } from '../../handles.ts'

export default job(
  newsletterExport,
  exports.exportJob(newsletterExport, 'Emails the newsletter subscribers as CSV'),
)
