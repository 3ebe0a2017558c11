import { exports } from '#operations/store/door'
import { job } from '#runtime/job'
import { contactFormExport } from '../../handles.ts'

export default job(
  contactFormExport,
  exports.exportJob(contactFormExport, 'Emails the submissions of the form as CSV'),
)
